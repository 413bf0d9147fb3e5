package asl

import (
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
)

// Parts returns the states, and the rules, retriers and catchers of each, in the order of the definition. The states of
// a branch follow the state that they belong to.
func (m *Machine) Parts() []flow.Part {
	all, _ := m.parts()
	return all
}

// Observed returns the same machine with an observer: f is called with each of [Machine.Parts] that a run goes through.
// Several goroutines may call f at once. If the engine repeats a step after a crash, f is called again.
func (m *Machine) Observed(f func(flow.Part)) *Machine {
	_, known := m.parts()
	observed := *m.machine
	observed.Observe = func(part any) { f(known[part]) }
	return &Machine{&observed, m.warnings}
}

// parts returns the parts in order, and each by what it was compiled to.
func (m *Machine) parts() (all []flow.Part, by map[any]flow.Part) {
	by = map[any]flow.Part{}
	add := func(of any, part flow.Part) {
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
func stateParts(s *syntax.State, add func(of any, part flow.Part)) {
	add(s, flow.Part{Kind: flow.StatePart, State: s.Name, At: s.At})
	leads := transitions(s) // the rules, Next or Default, and the catchers
	for i, rule := range s.Choices {
		add(rule, flow.Part{Kind: flow.ChoicePart, State: s.Name, Label: leads[i].Label, At: rule.At})
	}
	if s.Kind == syntax.ChoiceState && s.Out.Next != nil {
		add(&s.Out, flow.Part{Kind: flow.ChoicePart, State: s.Name, Label: leads[len(s.Choices)].Label, At: s.Default})
	}
	for _, r := range s.Retry {
		add(r, flow.Part{Kind: flow.RetrierPart, State: s.Name, Label: "Retry " + strings.Join(r.Errors, ", "), At: r.At})
	}
	leads = leads[len(leads)-len(s.Catch):]
	for i, k := range s.Catch {
		add(k, flow.Part{Kind: flow.CatcherPart, State: s.Name, Label: leads[i].Label, At: k.At})
	}
}
