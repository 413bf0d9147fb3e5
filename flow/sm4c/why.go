package sm4c

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// Why returns what a machine is doing, by what its run remembers.
func (m *Machine) Why(memory atom.Value) (*flow.Waiting, error) {
	mem, err := readMemory(memory)
	if err != nil {
		return nil, err
	}
	out := &flow.Waiting{State: mem.state, Doing: mem.stage.String(), Inbox: len(mem.inbox)}
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
			out.Transitions = append(out.Transitions, flow.WaitingFor{To: to, Groups: w.groups(t)})
		default:
		}
	}
	return out, nil
}

func (w *interpreter) groups(t *transition) []flow.WaitingGroup {
	var all []flow.WaitingGroup
	for _, g := range t.groups {
		info := flow.WaitingGroup{}
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
