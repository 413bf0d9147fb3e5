package sm4c

import (
	"cmp"
	"fmt"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// Parts returns the states, and the transitions and error handlers of each, in the order of the definition. An implicit
// transition, which is always taken, is not a part.
func (m *Machine) Parts() []grow.Part {
	all, _ := m.parts()
	return all
}

// Observed returns the same machine with an observer: f is called with each of [Machine.Parts] that a run goes through.
// Several goroutines may call f at once. If the engine repeats a step after a crash, f is called again.
func (m *Machine) Observed(f func(grow.Part)) *Machine {
	_, known := m.parts()
	observed := *m.machine
	observed.Observe = func(of any) {
		if part, is := known[of]; is {
			f(part)
		}
	}
	return &Machine{&observed, m.warnings}
}

// parts returns the parts in order, and each by what it was compiled to.
func (m *Machine) parts() (all []grow.Part, by map[any]grow.Part) {
	by = map[any]grow.Part{}
	add := func(of any, part grow.Part) {
		if _, known := by[of]; !known {
			all = append(all, part)
			by[of] = part
		}
	}
	for _, s := range m.machine.States {
		add(s, grow.Part{Kind: grow.StatePart, State: s.Name, At: s.At})
		for _, t := range s.Transitions {
			if t.Trigger != syntax.Implicit && t.Trigger != syntax.Inert {
				label := cmp.Or(t.Label, fmt.Sprintf("transition %d", t.Number+1))
				add(t, grow.Part{Kind: grow.ChoicePart, State: s.Name, Label: label, At: t.At})
			}
		}
		for _, e := range s.Effects() {
			partsOf(e.Action, s.Name, add)
		}
	}
	return all, by
}

func partsOf(a *syntax.Action, state string, add func(of any, part grow.Part)) {
	for i, h := range a.Handlers {
		kind := grow.CatcherPart
		if h.Retry != nil {
			kind = grow.RetrierPart
		}
		add(h, grow.Part{Kind: kind, State: state, Label: fmt.Sprintf("error handler %d of %s", i+1, a.Title), At: h.At})
	}
	for _, child := range a.Children {
		partsOf(child, state, add)
	}
}
