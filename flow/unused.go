package flow

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/spelling"
)

// unused reports inputs that nothing requires.
func (c *compiler) unused(wanted map[string]bool) {
	if c.lenient || c.plan.grows() {
		return
	}
	for _, s := range slices.Sorted(maps.Keys(c.inputs)) {
		if wanted[s] || len(c.plan.providers[s]) > 0 || c.meant(s) {
			continue
		}
		hint := didYouMean(s, c.plan.symbols())
		if near := didYouMean(s, c.plan.required()); near != "" {
			hint = near
		} else if hint == "" {
			hint = c.plan.requires()
		}
		c.problemf(c.plan.Flow, "", s, ErrUnused, "no atom requires the input %q%s; leave it out", s, hint)
	}
}

// meant reports whether a problem says already that an atom perhaps means the input.
func (c *compiler) meant(input string) bool {
	return slices.ContainsFunc(c.problems, func(p *Problem) bool {
		return errors.Is(p, ErrMissing) && spelling.Nearest(p.Symbol, []string{input}) != ""
	})
}

// hidden reports values that a later atom of a linear flow provides again before anything can require them: perhaps two
// results have a field of one name. Atoms without types may do so, as in TaskFlow. used has the values that are
// required, by provider and symbol.
func (c *compiler) hidden(used map[usedValue]bool) {
	p := c.plan
	for _, s := range slices.Sorted(maps.Keys(p.providers)) {
		list := p.providers[s]
		if _, input := c.inputs[s]; input { // it takes precedence
			continue
		}
		for i := range list {
			first := &p.Atoms[list[i].atom]
			if used[usedValue{list[i].atom, s}] || first.Kind() == atom.KindRetry || typeOf(p, list[i]) == nil {
				continue
			}
			for _, later := range list[i+1:] {
				lca, ok := p.precedes(first.Node, p.Atoms[later.atom].Node)
				if ok && p.flows[lca].arranged == linear && typeOf(p, later) != nil {
					c.problemf(p.FlowOf(first.Node), first.Name(), s, ErrUnused,
						"atoms %q and %q both provide %q, and nothing requires it between them, so the first value is lost; "+
							"rename one with a json tag or atom.As", first.Name(), p.Atoms[later.atom].Name(), s)
					break
				}
			}
		}
	}
}

func typeOf(p *Plan, by provider) reflect.Type { return p.Atoms[by.atom].Provides()[by.part].Type }

// A usedValue is a symbol of the atom that provides it.
type usedValue struct {
	atom   int32
	symbol string
}

// required returns the symbols that atoms require, or take if they are there. They are sorted.
func (p *Plan) required() []string {
	var all []string
	for i := range p.Atoms {
		a := &p.Atoms[i]
		for _, arg := range append(slices.Clip(a.Args()), ownRevertArgs(a)...) {
			if _, injected := a.Injected(arg.Symbol); arg.Symbol != "" && !injected {
				all = append(all, arg.Symbol)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// maxNamed is how many symbols a text names.
const maxNamed = 8

// requires says in brackets what the atoms require.
func (p *Plan) requires() string {
	all := p.required()
	if len(all) == 0 {
		return " (the atoms require nothing)"
	}
	names := make([]string, 0, maxNamed)
	for _, s := range all[:min(len(all), maxNamed)] {
		names = append(names, quoted(s))
	}
	if more := len(all) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return " (the atoms require " + strings.Join(names, ", ") + ")"
}
