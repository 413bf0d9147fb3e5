package flow

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/stepgraph"
)

// warnOfStays warns once if the work of tasks stays done when the run is undone. A flow that undoes nothing at all has
// no such warning. A language warns of its definitions itself.
func (c *compiler) warnOfStays() {
	p := c.plan
	if c.growing != nil {
		if of, ok := c.growing.lang.(interface{ Warnings() Diagnostics }); ok {
			for _, d := range of.Warnings() {
				p.Warnings = append(p.Warnings, d.String())
			}
		}
		return
	}
	g := stepgraph.Graph{Steps: make([]stepgraph.Step, len(p.Nodes))}
	reverts := false
	for n := range p.Nodes {
		s := &g.Steps[n]
		for _, next := range p.Succ(int32(n)) {
			s.Next = append(s.Next, int(next))
		}
		i := p.Nodes[n].Atom
		if i < 0 || p.Atoms[i].Kind() != atom.KindTask {
			continue
		}
		a := &p.Atoms[i]
		s.Fails, s.Pivot, s.Stays = true, a.IsPivot(), a.StaysDone() && !a.IsPivot()
		reverts = reverts || a.Language == nil && a.Reverts()
	}
	if !reverts {
		return
	}
	var names []string
	for _, n := range g.Staying() {
		names = append(names, p.Atoms[p.Nodes[n].Atom].Name())
	}
	if len(names) > 0 {
		p.Warnings = append(p.Warnings, stepgraph.Text("task", "Revert", names)+
			"; write a Revert, or say atom.NoEffect() or atom.Pivot()")
	}
}
