package sm4c

import "slices"

// match finds an event for each group of a transition among the first events of
// the inbox: of those that match the earliest. One event may do for several
// groups (decision 11). It returns nil when a group has none.
func (w *interpreter) match(t *transition, taken int) ([]choice, *stateError) {
	chosen := make([]choice, 0, len(t.groups))
	for _, g := range t.groups {
		c, f := w.matchGroup(g, taken)
		if f != nil || c == nil {
			return nil, f
		}
		chosen = append(chosen, *c)
	}
	return chosen, nil
}

func (w *interpreter) matchGroup(g *group, taken int) (*choice, *stateError) {
	for i := range taken {
		e, f := w.mem.inbox[i].event()
		if f != nil {
			return nil, f
		}
		for _, d := range g.events {
			if !w.machine.means(d, e) {
				continue
			}
			ok, f := w.correlates(d, e)
			if f != nil {
				return nil, f
			}
			if !ok {
				continue
			}
			c := &choice{message: i, event: d, shown: shown(e, d)}
			if ok, f = w.admits(g, c.shown); ok || f != nil {
				return c, f
			}
		}
	}
	return nil, nil
}

// event returns the event, decoded.
func (l *message) event() (map[string]any, *stateError) {
	if l.tree == nil {
		e, err := eventOf(l.json)
		if err != nil {
			return nil, expressionError("an event in the inbox: %v", err)
		}
		l.tree = e
	}
	return l.tree, nil
}

// admits reports whether the condition of a group holds for an event (decision
// 12).
func (w *interpreter) admits(g *group, event map[string]any) (bool, *stateError) {
	if g.condition == nil {
		return true, nil
	}
	view, f := w.viewed().value()
	if f != nil {
		return false, f
	}
	holds, f := g.condition.evaluate(w.ask.Interrupted, event, view)
	return holds == true, f
}

// matches reports whether an event is of a definition, but for correlation
// (decision 10): an event whose subject is the name of a definition can match no
// other; type and source are compared where they are given; a definition that
// gives neither is meant by its name as the type.
func (d *event) matches(e map[string]any) bool {
	if d.typ != "" && e["type"] != d.typ || d.source != "" && e["source"] != d.source {
		return false
	}
	for _, k := range d.correlation {
		if _, ok := extension(e, k.attribute); !ok {
			return false
		}
	}
	return d.typ != "" || d.source != "" || e["type"] == d.name || e["subject"] == d.name
}

// pinned reports whether an event's subject names a definition.
func (m *Machine) pinned(e map[string]any) *event {
	for _, d := range m.events {
		if e["subject"] == d.name {
			return d
		}
	}
	return nil
}

// expects reports whether some group could ever have an event.
func (w *interpreter) expects(e map[string]any) bool {
	return slices.ContainsFunc(w.machine.awaited, func(d *event) bool { return w.machine.means(d, e) && !w.contradicts(d, e) })
}

// means reports whether an event matches a definition, pinned or not.
func (m *Machine) means(d *event, e map[string]any) bool {
	if p := m.pinned(e); p != nil && p != d {
		return false
	}
	return d.matches(e)
}

// correlates reports whether an event's attributes are those that a definition
// asks for: of a value, or of the run's keys.
func (w *interpreter) correlates(d *event, e map[string]any) (bool, *stateError) {
	for _, k := range d.correlation {
		has, ok := extension(e, k.attribute)
		if !ok {
			return false, nil
		}
		want, known := w.mem.keys[k.attribute]
		if k.value != nil {
			data, f := w.mem.data.value()
			if f != nil {
				return false, f
			}
			value, f := k.value.resolve(w.ask.Interrupted, data)
			if f != nil {
				return false, f
			}
			if want, known = value.(string); !known {
				return false, nil // no attribute is what is no text
			}
		}
		if known && has != want {
			return false, nil
		}
	}
	return true, nil
}
