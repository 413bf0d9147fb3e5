package sm4c

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/digraph"
)

// A linker numbers and names what a legal machine has, and finds out what is to be
// known of the whole.
type linker struct {
	*Machine

	names map[string]int // how many actions of the run's own flow have a node of the name
}

// link ends the making of a legal machine.
func (c *checker) link(m *Machine) {
	l := &linker{Machine: m, names: map[string]int{}}
	for _, def := range c.events.list {
		l.event(def.read)
	}
	for _, def := range c.functions.list {
		f := def.read
		f.at = -1
		if def.source.File == c.main.File {
			f.at = get(def.node, "operation").At
		}
		m.functions = append(m.functions, f)
	}
	for i, def := range c.states.list {
		s := def.read
		s.number, m.byName[s.name] = i, s
		m.states = append(m.states, s)
	}
	for _, s := range m.states {
		l.state(s)
	}
	if m.timeout != nil && m.timeout.action != nil {
		l.action(m.timeout.action, placement{base: "timeout"})
	}
	l.loops()
	m.correlates = slices.ContainsFunc(m.awaited, func(d *event) bool { return len(d.correlation) > 0 })
	for _, a := range m.actions {
		a.repeats = a.repeats || l.names[a.name] > 1
	}
}

func (l *linker) event(e *event) {
	for _, k := range e.correlation {
		k.attribute = strings.ToLower(k.attribute)
		if k.value == nil && !slices.Contains(l.keys, k.attribute) {
			l.keys = append(l.keys, k.attribute)
		}
	}
	l.events = append(l.events, e)
}

func (l *linker) state(s *state) {
	base := segment.Replace(s.name)
	s.wait = base + "/wait"
	l.effect(&s.enter, base, "enter")
	l.effect(&s.exit, base, "exit")
	for _, t := range s.transitions {
		role := "again"
		if t.next != nil {
			role = "to " + segment.Replace(t.next.name)
		}
		l.effect(&t.effect, base, role)
		for _, g := range t.groups {
			for _, d := range g.events {
				if t.trigger != inert && !slices.Contains(l.awaited, d) {
					l.awaited = append(l.awaited, d)
				}
			}
		}
		s.waitsAgain = s.waitsAgain || t.next == nil
	}
}

func (l *linker) effect(e *effect, base, role string) {
	if e.action != nil {
		l.action(e.action, placement{base: base, role: role, repeats: role == "again"})
	}
}

// A placement is where an action stands, from which its node has its name.
type placement struct {
	base    string // begins the name; "" for the first of a flow of its own
	role    string // what it is where it stands; "" for the first of a flow of its own
	parent  *action
	repeats bool // it can be begun more than once in a run of its flow
	inner   bool // it is not in the run's own flow
}

// action numbers and names an action with all that is in it.
func (l *linker) action(a *action, at placement) {
	a.number, a.parent = len(l.actions), at.parent
	l.actions = append(l.actions, a)
	a.repeats = at.repeats || slices.ContainsFunc(a.handlers, func(h *handler) bool { return h.retry != nil })
	a.name = nodeName(a, at)
	if a.title == "" {
		a.title = a.name
	}
	if !at.inner {
		l.names[a.name]++
	}
	if a.kind == foreachAction {
		a.slots = max(1, a.slots)
	}
	inside := placement{base: a.name, parent: a, repeats: a.repeats, inner: at.inner}
	if a.forks() {
		inside = placement{parent: a, inner: true}
	}
	for _, child := range a.children {
		if a.kind == sequenceAction {
			inside.role = segment.Replace(child.key)
		}
		l.action(child, inside)
	}
}

// nodeName returns the name of an action's node in its flow: HotelReserved/enter,
// HotelReserved/enter/book, Book/parallel.
func nodeName(a *action, at placement) string {
	role := at.role
	if a.title != "" {
		role = segment.Replace(a.title)
	}
	kind := a.kind.String()
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
	if a.forks() {
		return role + "/" + kind
	}
	return role
}

// loops marks the states that can be entered more than once, with their actions,
// so that only their nodes are counted: what a machine without loops remembers
// does not grow.
func (l *linker) loops() {
	digraph.Loops(l.states, (*state).successors, func(loop []*state) {
		for _, s := range loop {
			s.waitsAgain = true
			for _, e := range s.effects() {
				e.action.repeat()
			}
		}
	})
}

// successors returns the states that transitions lead to.
func (s *state) successors() []*state {
	var next []*state
	for _, t := range s.transitions {
		if t.next != nil && t.trigger != inert {
			next = append(next, t.next)
		}
	}
	return next
}

func (s *state) effects() []*effect {
	all := []*effect{&s.enter, &s.exit}
	for _, t := range s.transitions {
		all = append(all, &t.effect)
	}
	return slices.DeleteFunc(all, func(e *effect) bool { return e.action == nil })
}

// repeat marks an action, and what is in its flow with it.
func (a *action) repeat() {
	a.repeats = true
	if a.forks() {
		return
	}
	for _, child := range a.children {
		child.repeat()
	}
}

// visited returns the name of the nth node of an action or wait: the first has
// its plain name, the second Pay#2. A name that ends so itself has the first one,
// too, so that no two nodes have one name.
func visited(name string, n int) string {
	if i := strings.LastIndexByte(name, '#'); n == 1 && (i < 0 || strings.Trim(name[i+1:], "0123456789") != "") {
		return name
	}
	return name + "#" + strconv.Itoa(n)
}
