package syntax

import "time"

// A Machine is a compiled state machine. It does not change.
type Machine struct {
	Name       string // name that Parse received
	Title      string
	Version    string
	Text       []byte
	States     []*State
	ByName     map[string]*State
	Start      *State
	Timeout    *ExecutionTimeout // nil: no timeout
	Events     []*Event
	Awaited    []*Event // events that some group awaits
	Functions  []*Function
	Actions    []*Action // all actions, by number
	Undoes     bool      // some call is undone when the machine fails
	Correlates bool      // some awaited event has a correlation
	Keys       []string  // names of the attributes that correlate with keys of the run
	Documents  map[string][]byte
	Observe    func(part any) // called with each *State, *Transition and *Handler that a run goes through; may be nil
}

// An ExecutionTimeout ends a run that takes too long.
type ExecutionTimeout struct {
	After  time.Duration
	Action *Action // nil: no action
}

// Through reports to the observer, if there is one, that a run goes through a part.
func (m *Machine) Through(part any) {
	if m.Observe != nil {
		m.Observe(part)
	}
}
