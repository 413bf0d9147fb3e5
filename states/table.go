package states

import (
	"fmt"

	"github.com/looplab/fsm"
)

// rules are looplab events that belong together: those of TaskFlow, or those that one feature of Ebb adds.
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

// events returns the function that writes a looplab event of one kind. Its parameters read as a sentence: on "start" go
// to RUNNING from PENDING. It gets the names as an argument instead of calling String, so that Go initializes them
// first.
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

// has returns false for numbers outside of the grid.
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

// compile turns looplab definitions into bits. The definitions are constants of this package, so a mistake in them is a
// defect, and panics while the package is initialized.
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

// ignoring adds the third class that TaskFlow gives to flows and jobs: pairs without effect. It always includes a state
// that is entered again. These events are in no machine, because looplab has no such class.
func (t *table) ignoring(events ...fsm.EventDesc) *table {
	for n := range t.names {
		t.ignored.set(uint8(n), uint8(n))
	}
	for _, event := range events {
		for _, src := range event.Src {
			t.ignored.set(t.number(src), t.number(event.Dst))
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

// row lists the states that are legal after from.
func (t *table) row(g *grid, from uint8) []string {
	var names []string
	for n, name := range t.names {
		if g.has(from, uint8(n)) {
			names = append(names, name)
		}
	}
	return names
}
