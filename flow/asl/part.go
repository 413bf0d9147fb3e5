package asl

import (
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
)

// Parts returns the states, and the rules, retriers and catchers of each, in the order of the definition. The states of
// a branch follow the state that they belong to.
func (m *Machine) Parts() []grow.Part {
	all, _ := m.parts()
	return all
}

// Observed returns the same machine with an observer: f is called with each of [Machine.Parts] that a run goes through.
// Several goroutines may call f at once. If the engine repeats a step after a crash, f is called again.
func (m *Machine) Observed(f func(grow.Part)) *Machine {
	_, known := m.parts()
	observed := *m.machine
	observed.Observe = func(part any) { f(known[part]) }
	return &Machine{&observed, m.warnings}
}

// parts returns the parts in order, and each by what it was compiled to.
func (m *Machine) parts() (all []grow.Part, by map[any]grow.Part) {
	by = map[any]grow.Part{}
	add := func(of any, part grow.Part) {
		all = append(all, part)
		by[of] = part
	}
	var level func(*syntax.Level)
	level = func(l *syntax.Level) {
		for _, s := range l.States {
			stateParts(s, add)
			for _, inner := range s.Within() {
				level(inner)
			}
		}
	}
	level(m.machine.Top)
	return all, by
}

// stateParts adds a state and its ways.
func stateParts(s *syntax.State, add func(of any, part grow.Part)) {
	add(s, grow.Part{Kind: grow.StatePart, State: s.Name, At: s.At})
	leads := transitions(s) // the rules, Next or Default, and the catchers
	for i, rule := range s.Choices {
		add(rule, grow.Part{Kind: grow.ChoicePart, State: s.Name, Label: leads[i].Label, At: rule.At})
	}
	if s.Kind == syntax.ChoiceState && s.Out.Next != nil {
		add(&s.Out, grow.Part{Kind: grow.ChoicePart, State: s.Name, Label: leads[len(s.Choices)].Label, At: s.Default})
	}
	for _, r := range s.Retry {
		add(r, grow.Part{Kind: grow.RetrierPart, State: s.Name, Label: "Retry " + strings.Join(r.Errors, ", "), At: r.At})
	}
	leads = leads[len(leads)-len(s.Catch):]
	for i, k := range s.Catch {
		add(k, grow.Part{Kind: grow.CatcherPart, State: s.Name, Label: leads[i].Label, At: k.At})
	}
}
