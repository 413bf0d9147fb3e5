package interpreter

import (
	"slices"

	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// match finds an event for each group of a transition among the first events of the inbox, always the earliest that
// matches. One event may match several groups (decision 11). If a group has no event, match returns nil.
func (w *interpreter) match(t *syntax.Transition, taken int) ([]choice, *stateerror.Error) {
	chosen := make([]choice, 0, len(t.Groups))
	for _, g := range t.Groups {
		c, f := w.matchGroup(g, taken)
		if f != nil || c == nil {
			return nil, f
		}
		chosen = append(chosen, *c)
	}
	return chosen, nil
}

func (w *interpreter) matchGroup(g *syntax.Group, taken int) (*choice, *stateerror.Error) {
	for i := range taken {
		e, f := w.mem.inbox[i].event()
		if f != nil {
			return nil, f
		}
		for _, d := range g.Events {
			if !means(w.machine, d, e) {
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

// event returns the decoded event.
func (l *message) event() (map[string]any, *stateerror.Error) {
	if l.tree == nil {
		e, err := eventOf(l.json)
		if err != nil {
			return nil, stateerror.Expression("an event in the inbox: %v", err)
		}
		l.tree = e
	}
	return l.tree, nil
}

// admits reports whether the condition of a group holds for an event (decision 12).
func (w *interpreter) admits(g *syntax.Group, event map[string]any) (bool, *stateerror.Error) {
	if g.Condition == nil {
		return true, nil
	}
	view, f := w.viewed().value()
	if f != nil {
		return false, f
	}
	holds, f := g.Condition.Evaluate(w.ask.Interrupted, event, view)
	return holds == true, f
}

// matches reports whether an event matches a definition, without correlation (decision 10). If the event's subject
// is the name of a definition, only that definition matches. Otherwise type and source are compared, if the
// definition has them. If it has neither, its name is the type.
func matches(d *syntax.Event, e map[string]any) bool {
	if d.Typ != "" && e["type"] != d.Typ || d.Source != "" && e["source"] != d.Source {
		return false
	}
	for _, k := range d.Correlation {
		if _, ok := extension(e, k.Attribute); !ok {
			return false
		}
	}
	return d.Typ != "" || d.Source != "" || e["type"] == d.Name || e["subject"] == d.Name
}

// pinned returns the definition that the event's subject names; nil if there is none.
func pinned(m *syntax.Machine, e map[string]any) *syntax.Event {
	for _, d := range m.Events {
		if e["subject"] == d.Name {
			return d
		}
	}
	return nil
}

// expects reports whether any group could ever match the event.
func (w *interpreter) expects(e map[string]any) bool {
	return slices.ContainsFunc(w.machine.Awaited, func(d *syntax.Event) bool {
		return means(w.machine, d, e) &&
			!w.contradicts(d, e)
	})
}

// means reports whether an event matches a definition, with or without its name as the subject.
func means(m *syntax.Machine, d *syntax.Event, e map[string]any) bool {
	if p := pinned(m, e); p != nil && p != d {
		return false
	}
	return matches(d, e)
}

// correlates reports whether an event's attributes have the required values: fixed values, or those of the run's
// keys.
func (w *interpreter) correlates(d *syntax.Event, e map[string]any) (bool, *stateerror.Error) {
	for _, k := range d.Correlation {
		has, ok := extension(e, k.Attribute)
		if !ok {
			return false, nil
		}
		want, known := w.mem.keys[k.Attribute]
		if k.Value != nil {
			data, f := w.mem.data.value()
			if f != nil {
				return false, f
			}
			value, f := k.Value.Resolve(w.ask.Interrupted, data)
			if f != nil {
				return false, f
			}
			if want, known = value.(string); !known {
				return false, nil // a value that is not a string never matches
			}
		}
		if known && has != want {
			return false, nil
		}
	}
	return true, nil
}

// Hears reports whether a signal with that name could be an event that some transition awaits.
func Hears(m *syntax.Machine, name string) bool {
	e := signal(m, name)
	return slices.ContainsFunc(m.Awaited, func(d *syntax.Event) bool { return means(m, d, e) })
}
