package interpreter

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// wait waits for events, or until the time of a transition has passed.
func (w *interpreter) wait() step {
	m, s := w.mem, w.state()
	timed := s.First(syntax.Timer)
	if timed == nil && s.First(syntax.Events) == nil {
		return w.fail(stateerror.New(stateerror.CodeStuck, "no transition of the state %s can fire", jsontext.Quote(s.Name)))
	}
	m.stage, m.wait = waiting, ""
	for taken := 1; taken <= len(m.inbox); taken++ { // earlier arrival takes precedence over the order of transitions
		if next := w.look(taken); next != nil {
			return next
		}
	}
	if timed != nil {
		m.wait, m.due = w.node(s.Wait, s.WaitsAgain), w.later(timed.Timeout)
		w.add(grow.Spec{Name: m.wait, Kind: grow.Timer, Due: m.due, Limits: s.First(syntax.Events) != nil})
	}
	return nil
}

// timeIsUp takes the transition whose time has passed.
func (w *interpreter) timeIsUp() step {
	m := w.mem
	t := w.state().First(syntax.Timer)
	if t == nil {
		return nil
	}
	if t.Timeout > 0 {
		m.rested()
	}
	m.wait = ""
	return w.take(t, "its time is up")
}

// told adds an event to the inbox, where it stays until a transition consumes it (decision 9).
func (w *interpreter) told() step {
	m := w.mem
	text, e, err := w.received()
	switch {
	case err != nil:
		w.event("EventRefused", w.ask.Cause.Name, map[string]any{"why": clip(err.Error())})
		w.unchanged = true
		return nil
	case m.stage == calling || m.stage == expiring || !w.expects(e):
		w.unchanged = true // no group could ever match it
		return nil
	case len(m.inbox) >= maxInbox || inboxSize(m.inbox)+len(text) > maxInboxBytes:
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

// look tries the transitions in the order of the definition with the first events of the inbox. If none fires, it
// returns nil.
func (w *interpreter) look(taken int) step {
	for t := range w.state().Of(syntax.Events) {
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

// A choice is the event for a group, and the definition that it matches.
type choice struct {
	message int
	event   *syntax.Event
	shown   map[string]any
}

// consume removes the events of a transition from the inbox, calls the groups' handlers, and takes the transition.
func (w *interpreter) consume(t *syntax.Transition, chosen []choice) step {
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
	for i, g := range t.Groups {
		if g.Handler == nil {
			continue
		}
		if f := w.merge(g.Handler, chosen[i].shown); f != nil {
			return func() step { return w.fail(f) }
		}
	}
	return w.take(t, "its events have come")
}

// correlate makes attributes of an event keys of the run, if the run has no key with that name.
func (w *interpreter) correlate(e map[string]any) {
	for _, name := range w.machine.Keys {
		if _, known := w.mem.keys[name]; known {
			continue
		}
		if value, ok := extension(e, name); ok {
			w.mem.keys[name] = value
		}
	}
}

// Why returns what a machine currently does, from the memory of its run.
func Why(m *syntax.Machine, memory atom.Value) (*grow.Waiting, error) {
	mem, err := readMemory(memory)
	if err != nil {
		return nil, err
	}
	out := &grow.Waiting{State: mem.state, Doing: mem.stage.String(), Inbox: len(mem.inbox)}
	if mem.data != nil {
		out.Data = mem.data.json
	}
	if n := len(mem.frames); n > 0 && mem.frames[n-1].action < len(m.Actions) {
		out.Action = m.Actions[mem.frames[n-1].action].Title
	}
	s := m.ByName[mem.state]
	if mem.stage != waiting || s == nil {
		return out, nil
	}
	out.Due = mem.due
	w := &interpreter{machine: m, mem: mem, run: mem}
	for _, t := range s.Transitions {
		to := s.Name
		if t.Next != nil {
			to = t.Next.Name
		}
		switch t.Trigger {
		case syntax.Timer:
			out.DueTo = to
		case syntax.Events:
			out.Transitions = append(out.Transitions, grow.WaitingFor{To: to, Groups: w.groups(t)})
		default:
		}
	}
	return out, nil
}

func (w *interpreter) groups(t *syntax.Transition) []grow.WaitingGroup {
	var all []grow.WaitingGroup
	for _, g := range t.Groups {
		info := grow.WaitingGroup{}
		for _, d := range g.Events {
			info.Events = append(info.Events, d.Name)
		}
		if c, f := w.matchGroup(g, len(w.mem.inbox)); f == nil && c != nil {
			info.Has = c.event.Name
		}
		all = append(all, info)
	}
	return all
}
