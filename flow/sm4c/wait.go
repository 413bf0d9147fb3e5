package sm4c

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// wait waits for events, or until the time of a transition is up.
func (w *interpreter) wait() step {
	m, s := w.mem, w.state()
	timed := s.first(timer)
	if timed == nil && s.first(events) == nil {
		return w.fail(newError(CodeStuck, "no transition of the state %s can fire", quote(s.name)))
	}
	m.stage, m.wait = waiting, ""
	for taken := 1; taken <= len(m.inbox); taken++ { // arrival goes before the order of the definition
		if next := w.look(taken); next != nil {
			return next
		}
	}
	if timed != nil {
		m.wait, m.due = w.node(s.wait, s.waitsAgain), w.later(timed.timeout)
		w.add(flow.Spec{Name: m.wait, Kind: flow.Timer, Due: m.due})
	}
	return nil
}

// timeIsUp takes the transition whose time is up.
func (w *interpreter) timeIsUp() step {
	m := w.mem
	t := w.state().first(timer)
	if t == nil {
		return nil
	}
	if t.timeout > 0 {
		m.rested()
	}
	m.wait = ""
	return w.take(t, "its time is up")
}

// told takes in an event. It stays in the inbox until a transition needs it
// (decision 9).
func (w *interpreter) told() step {
	m := w.mem
	text, e, err := w.received()
	switch {
	case err != nil:
		w.event("EventRefused", w.ask.Cause.Name, map[string]any{"why": clip(err.Error())})
		w.unchanged = true
		return nil
	case m.stage == calling || m.stage == expiring || !w.expects(e):
		w.unchanged = true // nothing could ever match it
		return nil
	case len(m.inbox) >= MaxInbox || inboxSize(m.inbox)+len(text) > MaxInboxBytes:
		w.event("EventRefused", w.ask.Cause.Name, map[string]any{"why": "the inbox is full", "id": e["id"]})
		w.unchanged = true
		return nil
	}
	w.event("EventReceived", "", map[string]any{"id": e["id"], "type": e["type"], "source": e["source"]})
	m.inbox = append(m.inbox, message{json: text, tree: e})
	if m.stage != waiting {
		return nil
	}
	wait := m.wait
	next := w.look(len(m.inbox))
	if next != nil {
		m.rested()
		if wait != "" {
			w.growth.Drop = append(w.growth.Drop, wait)
		}
	}
	return next
}

func inboxSize(inbox []message) int {
	size := 0
	for i := range inbox {
		size += len(inbox[i].json)
	}
	return size
}

// look tries the transitions in the order of the definition with the first
// events of the inbox. It returns nil when none fires.
func (w *interpreter) look(taken int) step {
	for t := range w.state().of(events) {
		chosen, f := w.match(t, taken)
		if f != nil {
			return func() step { return w.fail(f) }
		}
		if chosen != nil {
			return w.consume(t, chosen)
		}
	}
	return nil
}

// A choice is the event that a group has, and the definition that it matches.
type choice struct {
	message int
	event   *event
	shown   map[string]any
}

// consume takes the events of a transition out of the inbox, lets the groups'
// handlers merge them, and takes the transition.
func (w *interpreter) consume(t *transition, chosen []choice) step {
	m := w.mem
	m.wait = ""
	var gone []int
	for _, c := range chosen {
		if !slices.Contains(gone, c.message) {
			gone = append(gone, c.message)
		}
	}
	slices.Sort(gone)
	for _, i := range gone {
		w.correlate(m.inbox[i].tree)
		w.event("EventConsumed", m.state, map[string]any{"id": m.inbox[i].tree["id"], "type": m.inbox[i].tree["type"]})
	}
	for _, i := range slices.Backward(gone) {
		m.inbox = slices.Delete(m.inbox, i, i+1)
	}
	for i, g := range t.groups {
		if g.handler == nil {
			continue
		}
		if f := w.merge(g.handler, chosen[i].shown); f != nil {
			return func() step { return w.fail(f) }
		}
	}
	return w.take(t, "its events have come")
}

// correlate lets the attributes of an event be the run's keys that it has none
// of yet.
func (w *interpreter) correlate(e map[string]any) {
	for _, name := range w.machine.keys {
		if _, known := w.mem.keys[name]; known {
			continue
		}
		if value, ok := extension(e, name); ok {
			w.mem.keys[name] = value
		}
	}
}

// Why returns the current activity of a machine, as the memory of its run shows it.
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
