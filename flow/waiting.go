package flow

import (
	"encoding/json"
	"time"
)

// A Waiting describes the current activity of a run's machine. Besides the end of an atom, the listed events or times
// make the machine continue.
type Waiting struct {
	State       string          `json:"state"`
	Doing       string          `json:"doing"`            // entering, deciding, waiting, moving, leaving or expiring
	Action      string          `json:"action,omitempty"` // the innermost action that is being run
	Transitions []WaitingFor    `json:"transitions,omitempty"`
	Due         time.Time       `json:"due,omitzero"`     // when the time of a transition is up
	DueTo       string          `json:"due_to,omitempty"` // the state that it leads to then
	Inbox       int             `json:"inbox"`            // events that were not consumed
	Data        json.RawMessage `json:"-"`                // of the machine
}

// A WaitingFor is a transition that waits for events.
type WaitingFor struct {
	To     string         `json:"to"`     // the state that it leads to; the present one when it is not left
	Groups []WaitingGroup `json:"groups"` // of which it needs one event each
}

// A WaitingGroup is a group of events.
type WaitingGroup struct {
	Events []string `json:"events"`        // any of them will do
	Has    string   `json:"has,omitempty"` // the one that has come
}
