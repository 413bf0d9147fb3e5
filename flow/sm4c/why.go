package sm4c

import (
	"encoding/json"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Waiting says what a machine is doing, and what would make it go on.
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
	To     string      `json:"to"` // the state that it leads to; the present one when it is not left
	Groups []GroupInfo `json:"groups"`
}

// A GroupInfo is a group of a transition.
type GroupInfo struct {
	Events []string `json:"events"` // any of them will do
	Has    string   `json:"has,omitempty"`
}

// Why returns what a machine is doing, by what its run remembers.
func (m *Machine) Why(memory atom.Value) (*Waiting, error) {
	mem, err := readMemory(memory)
	if err != nil {
		return nil, err
	}
	out := &Waiting{State: mem.state, Doing: mem.stage.String(), Inbox: len(mem.inbox)}
	if mem.data != nil {
		out.Data = mem.data.json
	}
	if n := len(mem.frames); n > 0 && mem.frames[n-1].action < len(m.actions) {
		out.Action = m.actions[mem.frames[n-1].action].title
	}
	s := m.byName[mem.state]
	if mem.stage != waiting || s == nil {
		return out, nil
	}
	out.Due = mem.due
	w := &interpreter{machine: m, mem: mem, run: mem}
	for _, t := range s.transitions {
		to := s.name
		if t.next != nil {
			to = t.next.name
		}
		switch t.trigger {
		case timer:
			out.DueTo = to
		case events:
			out.Transitions = append(out.Transitions, WaitingFor{To: to, Groups: w.groups(t)})
		default:
		}
	}
	return out, nil
}

func (w *interpreter) groups(t *transition) []GroupInfo {
	var all []GroupInfo
	for _, g := range t.groups {
		info := GroupInfo{}
		for _, d := range g.events {
			info.Events = append(info.Events, d.name)
		}
		if c, f := w.matchGroup(g, len(w.mem.inbox)); f == nil && c != nil {
			info.Has = c.event.name
		}
		all = append(all, info)
	}
	return all
}
