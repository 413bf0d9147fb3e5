package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unused warns of inputs that nothing requires.
func (c *compiler) unused(wanted map[string]bool) {
	if c.lenient || c.plan.grows() {
		return
	}
	for _, s := range slices.Sorted(maps.Keys(c.inputs)) {
		if wanted[s] || len(c.plan.providers[s]) > 0 {
			continue
		}
		hint := didYouMean(s, c.plan.symbols())
		if near := didYouMean(s, c.plan.required()); near != "" {
			hint = near
		} else if hint == "" {
			hint = c.plan.requires()
		}
		c.plan.Warnings = append(c.plan.Warnings, fmt.Sprintf("no atom requires the input %q%s", s, hint))
	}
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
