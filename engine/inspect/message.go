package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/storage"
)

// maxMessages is how many messages of a run are told of.
const maxMessages = 1000

// An Unsent is a message that a run has to send.
type Unsent struct {
	storage.Outgoing

	Behind int // so many of the same target wait for it, at least
}

// UnsentOf returns what a run still has to send: of each target the message that
// the others wait for.
func UnsentOf(ctx context.Context, store storage.Store, run string) ([]Unsent, error) {
	all, err := store.RunOutbox(ctx, run, maxMessages)
	if err != nil {
		return nil, err
	}
	var first []Unsent
	for i := range all {
		at := slices.IndexFunc(first, func(m Unsent) bool { return m.Target == all[i].Target })
		if at < 0 {
			first = append(first, Unsent{Outgoing: all[i]})
		} else {
			first[at].Behind++
		}
	}
	return first, nil
}

// A Message is an [Unsent] as it is written in JSON.
type Message struct {
	Message  string    `json:"message"`
	Target   string    `json:"target"`
	Attempts int       `json:"attempts"`
	Parked   bool      `json:"parked"` // Ebb sends it again only at an operator's request
	NotUntil time.Time `json:"not_until,omitzero"`
	Error    string    `json:"error,omitempty"`
	Behind   int       `json:"behind,omitempty"` // so many wait for it
}

// MessagesOf returns messages as they are written in JSON, without secrets.
func MessagesOf(messages []Unsent) []Message {
	var list []Message
	for i := range messages {
		m := &messages[i]
		list = append(list, Message{m.ID, redact.URL(m.Target), m.Attempts, m.Parked, m.NotUntil.UTC(), redact.Text(m.Error), m.Behind})
	}
	return list
}
