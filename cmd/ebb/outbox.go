package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// maxMessages is how many messages of a run are told of.
const maxMessages = 1000

// A message is what a run has to send, as it is told.
type message struct {
	storage.Outgoing

	behind int // so many of the same target wait for it, at least
}

// messagesOf returns what a run still has to send: of each target the message that
// the others wait for.
func messagesOf(ctx context.Context, store storage.Store, run string) ([]message, error) {
	all, err := store.RunOutbox(ctx, run, maxMessages)
	if err != nil {
		return nil, unreachable(err)
	}
	var first []message
	for i := range all {
		at := slices.IndexFunc(first, func(m message) bool { return m.Target == all[i].Target })
		if at < 0 {
			first = append(first, message{Outgoing: all[i]})
		} else {
			first[at].behind++
		}
	}
	return first, nil
}

// sentence says how a message stands, and how it is sent again if it is parked.
func (m *message) sentence(now time.Time) string {
	to := ""
	if m.Target != "" {
		to = " to " + visible.Line(redact.URL(m.Target))
	}
	text := fmt.Sprintf("The message %s%s waits to be sent.", visible.Line(m.ID), to)
	failed := fmt.Sprintf("%s, the last time because of: %s", times(m.Attempts), visible.Line(redact.Text(m.Error)))
	switch {
	case m.Parked:
		text = fmt.Sprintf("The message %s%s is parked: it was sent in vain %s. It is sent again with: ebb retry --messages %s",
			visible.Line(m.ID), to, failed, visible.Line(m.Run))
	case m.Error != "":
		text = fmt.Sprintf("The message %s%s is sent again%s; it was sent in vain %s.", visible.Line(m.ID), to, at(m.NotUntil, now), failed)
	}
	switch m.behind {
	case 0:
	case 1:
		text += " (1 more waits behind it)"
	default:
		text += fmt.Sprintf(" (%d more wait behind it)", m.behind)
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

type jsonMessage struct {
	Message  string    `json:"message"`
	Target   string    `json:"target"`
	Attempts int       `json:"attempts"`
	Parked   bool      `json:"parked"` // Ebb sends it again only at an operator's request
	NotUntil time.Time `json:"not_until,omitzero"`
	Error    string    `json:"error,omitempty"`
	Behind   int       `json:"behind,omitempty"` // so many wait for it
}

func messagesJSON(messages []message) []jsonMessage {
	var list []jsonMessage
	for i := range messages {
		m := &messages[i]
		list = append(list, jsonMessage{m.ID, redact.URL(m.Target), m.Attempts, m.Parked, m.NotUntil.UTC(), redact.Text(m.Error), m.behind})
	}
	return list
}

// resend lets the messages of a run be sent again that were parked. The run may have
// ended, and been pruned.
func (s *session) resend(ctx context.Context, id string) error {
	var parked []storage.Outgoing
	// Looked at first: a database that is not there is not made for this.
	err := s.reading(ctx, func(store storage.Store) error {
		all, err := store.RunOutbox(ctx, id, 0)
		if err != nil {
			return unreachable(err)
		}
		for i := range all {
			if all[i].Parked {
				parked = append(parked, all[i])
			}
		}
		if len(all) == 0 {
			_, err = findRun(ctx, store, id)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(parked) == 0:
		return usagef("no message of run %q is parked", id)
	}
	err = s.withStore(ctx, func(store storage.Store) error {
		for _, out := range parked {
			out.Parked, out.Attempts, out.NotUntil = false, 0, time.Time{}
			if err := store.Unsent(ctx, out); err != nil && !errors.Is(err, storage.ErrNotFound) { // not an error: another process resent the message, and it was sent
				return unreachable(err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.output == asJSON {
		return newJSON(s.out).Encode(struct {
			Event    string `json:"event"`
			Run      string `json:"run"`
			Messages int    `json:"messages"`
		}{"resent", id, len(parked)})
	}
	_, err = fmt.Fprintf(s.out, "%s: parked messages to be sent again: %d (ebb serve --sink sends them)\n", visible.Line(id), len(parked))
	return err
}
