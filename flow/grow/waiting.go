package grow

import (
	"encoding/json"
	"time"
)

// A Waiting describes what a run's machine is doing. The machine continues when an atom ends, when one of the listed
// events arrives, or at the listed time.
type Waiting struct {
	State       string          `json:"state"`                 // name of the current state
	Doing       string          `json:"doing"`                 // entering, deciding, waiting, moving, leaving, expiring
	Action      string          `json:"action,omitempty"`      // the innermost action in progress
	Transitions []WaitingFor    `json:"transitions,omitempty"` // transitions that wait for events
	Due         time.Time       `json:"due,omitzero"`          // when the time of a transition is up
	DueTo       string          `json:"due_to,omitempty"`      // the state that the run then enters
	Inbox       int             `json:"inbox"`                 // number of events not yet consumed
	Data        json.RawMessage `json:"-"`                     // the machine's data
}

// A WaitingFor is a transition of a machine that the run takes when the events have arrived.
type WaitingFor struct {
	To     string         `json:"to"`     // the next state; the current state if the run stays in it
	Groups []WaitingGroup `json:"groups"` // the transition needs one event of each group
}

// A WaitingGroup is a set of events of which a transition needs one.
type WaitingGroup struct {
	Events []string `json:"events"`        // any one of them suffices
	Has    string   `json:"has,omitempty"` // the one that has arrived
}
