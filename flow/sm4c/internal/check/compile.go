package check

import (
	"slices"
	"strings"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/digraph"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A linker numbers and names the parts of a legal machine, and computes its global properties.
type linker struct {
	*syntax.Machine

	names map[string]int // number of actions of the run's own flow whose node has the name
}

// link completes a legal machine.
func (c *checker) link(m *syntax.Machine) {
	l := &linker{Machine: m, names: map[string]int{}}
	for _, def := range c.events.list {
		l.event(def.read)
	}
	for _, def := range c.functions.list {
		f := def.read
		f.At = -1
		if def.source.File == c.main.File {
			f.At = get(def.node, "operation").At
		}
		m.Functions = append(m.Functions, f)
	}
	for i, def := range c.states.list {
		s := def.read
		s.Number, m.ByName[s.Name] = i, s
		m.States = append(m.States, s)
	}
	for _, s := range m.States {
		l.state(s)
	}
	if m.Timeout != nil && m.Timeout.Action != nil {
		l.action(m.Timeout.Action, placement{base: "timeout"})
	}
	l.loops()
	m.Undoes = slices.ContainsFunc(m.Actions, func(a *syntax.Action) bool { return a.Revert.Reverts() })
	m.Correlates = slices.ContainsFunc(m.Awaited, func(d *syntax.Event) bool { return len(d.Correlation) > 0 })
	for _, a := range m.Actions {
		a.Repeats = a.Repeats || l.names[a.Name] > 1
	}
}

func (l *linker) event(e *syntax.Event) {
	for _, k := range e.Correlation {
		k.Attribute = strings.ToLower(k.Attribute)
		if k.Value == nil && !slices.Contains(l.Keys, k.Attribute) {
			l.Keys = append(l.Keys, k.Attribute)
		}
	}
	l.Events = append(l.Events, e)
}

func (l *linker) state(s *syntax.State) {
	base := nodepath.Escape(s.Name)
	s.Wait = base + "/wait"
	l.effect(&s.Enter, base, "enter")
	l.effect(&s.Exit, base, "exit")
	for _, t := range s.Transitions {
		role := "again"
		if t.Next != nil {
			role = "to " + nodepath.Escape(t.Next.Name)
		}
		l.effect(&t.Effect, base, role)
		for _, g := range t.Groups {
			for _, d := range g.Events {
				if t.Trigger != syntax.Inert && !slices.Contains(l.Awaited, d) {
					l.Awaited = append(l.Awaited, d)
				}
			}
		}
		s.WaitsAgain = s.WaitsAgain || t.Next == nil
	}
}

func (l *linker) effect(e *syntax.Effect, base, role string) {
	if e.Action != nil {
		l.action(e.Action, placement{base: base, role: role, repeats: role == "again"})
	}
}

// A placement is the position of an action, which determines the name of its node.
type placement struct {
	base    string // prefix of the name; "" for the first action of a flow
	role    string // role of the action there; "" for the first action of a flow
	parent  *syntax.Action
	repeats bool // the action can be started more than once in a run of its flow
	inner   bool // the action is not in the run's own flow
}

// action numbers and names an action and all actions in it.
func (l *linker) action(a *syntax.Action, at placement) {
	a.Number, a.Parent = len(l.Actions), at.parent
	l.Actions = append(l.Actions, a)
	a.Repeats = at.repeats || slices.ContainsFunc(a.Handlers, func(h *syntax.Handler) bool { return h.Retry != nil })
	a.Name = nodeName(a, at)
	if a.Title == "" {
		a.Title = a.Name
	}
	if !at.inner {
		l.names[a.Name]++
	}
	if a.Kind == syntax.ForeachAction {
		a.Slots = max(1, a.Slots)
	}
	inside := placement{base: a.Name, parent: a, repeats: a.Repeats, inner: at.inner}
	if a.Forks() {
		inside = placement{parent: a, inner: true}
	}
	for _, child := range a.Children {
		if a.Kind == syntax.SequenceAction {
			inside.role = nodepath.Escape(child.Key)
		}
		l.action(child, inside)
	}
}

// nodeName returns the name of an action's node in its flow: HotelReserved/enter,
// HotelReserved/enter/book, Book/parallel.
func nodeName(a *syntax.Action, at placement) string {
	role := at.role
	if a.Title != "" {
		role = nodepath.Escape(a.Title)
	}
	kind := a.Kind.String()
	switch {
	case at.base == "" && role == "":
		return kind
	case at.base == "":
		return role
	case role == "":
		role = at.base
	default:
		role = at.base + "/" + role
	}
	if a.Forks() {
		return role + "/" + kind
	}
	return role
}

// loops marks the states that can be entered more than once, with their actions. Only their nodes are counted, so
// the memory of a machine without loops does not grow.
func (l *linker) loops() {
	digraph.Loops(l.States, (*syntax.State).Successors, func(loop []*syntax.State) {
		for _, s := range loop {
			s.WaitsAgain = true
			for _, e := range s.Effects() {
				e.Action.Repeat()
			}
		}
	})
}
