package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/storage"
)

// maxMessages is the maximum number of messages of a run that are read.
const maxMessages = 1000

// An Unsent is a message in the outbox that a run still has to send.
type Unsent struct {
	storage.Outgoing

	Behind int // number of messages to the same target that wait behind it; at most 1,000 are counted
}

// UnsentOf returns, for each target, the first message that a run still has to send. The others wait behind it. Errors
// are the store's.
func UnsentOf(ctx context.Context, store backend.Store, run string) ([]Unsent, error) {
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

// A Message is an [Unsent] in JSON, as `ebb show` and `ebb why` print it.
type Message struct {
	Message  string    `json:"message"`            // id of the message
	Target   string    `json:"target"`             // where the message goes, such as a URL
	Attempts int       `json:"attempts"`           // how often Ebb tried to send it
	Parked   bool      `json:"parked"`             // Ebb sends it again only at an operator's request
	NotUntil time.Time `json:"not_until,omitzero"` // time of the next attempt
	Error    string    `json:"error,omitempty"`    // error of the last attempt
	Behind   int       `json:"behind,omitempty"`   // number of messages to the same target that wait behind it
}

// MessagesOf returns the messages as the JSON output shows them, with secrets in errors masked.
func MessagesOf(messages []Unsent) []Message {
	var list []Message
	for i := range messages {
		m := &messages[i]
		list = append(list, Message{
			m.ID, redact.URL(m.Target), m.Attempts, m.Parked, m.NotUntil.UTC(), redact.Text(m.Error),
			m.Behind,
		})
	}
	return list
}
