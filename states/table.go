package states

import (
	"fmt"

	"github.com/looplab/fsm"
)

// Kind is one of Flow, Task, Retry, Job and Engine: the kinds that have a
// transition table.
type Kind interface {
	~uint8
	String() string
	table() *table
}

// Class says whose rule a pair is.
type Class uint8

const (
	// TaskFlow marks a rule taken over from OpenStack TaskFlow.
	TaskFlow Class = iota
	// Ebb marks a rule of Ebb's own, which a feature of Ebb needs.
	Ebb
)

// String returns "T" for TaskFlow and "E" for Ebb.
func (c Class) String() string {
	if c == TaskFlow {
		return "T"
	}
	return "E"
}

// Pair is one legal transition.
type Pair[S Kind] struct {
	From, To S
	Event    string // what happened; with From it determines To
	Class    Class
	Feature  string // the feature of Ebb that needs the pair; empty for TaskFlow's
	Why      string // why the feature needs it; empty for TaskFlow's
}

// Pairs lists every legal transition of a kind in the order of its definition:
// TaskFlow's, then Ebb's feature by feature. Those of the event Reset are among
// them; CheckReset asks for these, Check for all others.
func Pairs[S Kind]() []Pair[S] {
	var zero S
	var pairs []Pair[S]
	for _, p := range zero.table().pairs {
		pairs = append(pairs, Pair[S]{
			From: S(p.from), To: S(p.to), Event: p.event,
			Class: p.rules.class(), Feature: p.rules.feature, Why: p.rules.why,
		})
	}
	return pairs
}

// All lists the states of a kind in numerical order.
func All[S Kind]() []S {
	var zero S
	all := make([]S, len(zero.table().names))
	for n := range all {
		all[n] = S(n)
	}
	return all
}

// rules are looplab events that stand or fall together: those of TaskFlow, or
// those that one feature of Ebb adds.
type rules struct {
	feature string
	why     string
	events  fsm.Events
}

func (r *rules) class() Class {
	if r.feature == "" {
		return TaskFlow
	}
	return Ebb
}

// events returns the function that writes a looplab event of one kind, in the
// order in which it is said: on "start" go to RUNNING from PENDING. It is given
// the names instead of calling String, so that Go initialises them first.
func events[S ~uint8](v *vocabulary) func(event string, to S, from ...S) fsm.EventDesc {
	return func(event string, to S, from ...S) fsm.EventDesc {
		desc := fsm.EventDesc{Name: event, Dst: v.text(uint8(to))}
		for _, s := range from {
			desc.Src = append(desc.Src, v.text(uint8(s)))
		}
		return desc
	}
}

// maxStates is the width of a row of bits.
const maxStates = 16

// grid holds one bit for each ordered pair of states: bit "to" of row "from".
type grid [maxStates]uint16

func (g *grid) set(from, to uint8) { g[from] |= 1 << to }

// has is false for numbers outside of the grid.
func (g *grid) has(from, to uint8) bool {
	return from < maxStates && to < maxStates && g[from]>>to&1 != 0
}

// table is the compiled form of one kind's rules.
type table struct {
	vocabulary
	pairs   []pair
	events  fsm.Events
	legal   grid // Check
	reset   grid // CheckReset
	ignored grid // Ignored
}

type pair struct {
	from, to uint8
	event    string
	rules    *rules
}

// compile turns looplab definitions into bits. The definitions are constants of
// this package, so a mistake in them is a mistake of the programmer and panics
// while the package is initialised.
func compile(v vocabulary, groups ...rules) *table {
	t := &table{vocabulary: v}
	if len(v.names) > maxStates {
		panic(fmt.Sprintf("states: %s has %d states, a table holds %d", v.kind, len(v.names), maxStates))
	}
	type cause struct {
		event string
		from  uint8
	}
	seen := make(map[cause]bool)
	for i := range groups {
		group := &groups[i]
		t.events = append(t.events, group.events...)
		for _, event := range group.events {
			to := t.number(event.Dst)
			for _, src := range event.Src {
				from := t.number(src)
				bits := &t.legal
				if event.Name == Reset {
					bits = &t.reset
				}
				if seen[cause{event.Name, from}] || bits.has(from, to) {
					panic(fmt.Sprintf("states: %s: %s from %s is defined twice", v.kind, event.Name, src))
				}
				seen[cause{event.Name, from}] = true
				bits.set(from, to)
				t.pairs = append(t.pairs, pair{from, to, event.Name, group})
			}
		}
	}
	return t
}

// ignoring adds the third class that TaskFlow gives flows and jobs: a state
// before itself, and the pairs of the cross product from x to that are left.
func (t *table) ignoring(from, to []string) *table {
	for n := range t.names {
		t.ignored.set(uint8(n), uint8(n))
	}
	for _, src := range from {
		for _, dst := range to {
			t.ignored.set(t.number(src), t.number(dst))
		}
	}
	return t
}

func (t *table) number(name string) uint8 {
	n := t.index(name)
	if n < 0 {
		panic(fmt.Sprintf("states: %s has no state %q", t.kind, name))
	}
	return uint8(n)
}

// row lists the names of the states whose bit is set in the row of from.
func (t *table) row(g *grid, from uint8) []string {
	var names []string
	for n, name := range t.names {
		if g.has(from, uint8(n)) {
			names = append(names, name)
		}
	}
	return names
}
