package flow

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/stepgraph"
)

// warnOfStays warns once if the work of tasks stays done when the run is undone. A flow that undoes nothing at all has
// no such warning. A language warns of its definitions itself. The flows of runs that the flow begins are a part of it.
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
	if len(c.around) > 0 {
		return
	}
	for detached := []*Plan{p}; len(detached) > 0; detached = detached[1:] {
		g := steps{Graph: stepgraph.Graph{Concurrent: true}}
		g.plan(detached[0])
		detached = append(detached, g.detached...)
		if w, ok := g.warning(); ok && !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	}
}

// steps are the atoms of a plan, and of the runs that they begin and wait for, as a graph.
type steps struct {
	stepgraph.Graph

	names    []string // of the steps
	reverts  bool     // something can be undone
	detached []*Plan  // of the runs that nothing waits for
}

func (g *steps) add(name string) int {
	g.names = append(g.names, name)
	return g.Add(stepgraph.Step{})
}

// plan adds the nodes of a plan and returns the first and the last.
func (g *steps) plan(p *Plan) (first, last int) {
	begin, end := make([]int, len(p.Nodes)), make([]int, len(p.Nodes))
	for n := range p.Nodes {
		begin[n] = g.add("")
		end[n] = begin[n]
		if i := p.Nodes[n].Atom; i >= 0 && p.Atoms[i].Kind() == atom.KindTask {
			end[n] = g.task(begin[n], &p.Atoms[i])
		}
	}
	for n := range p.Nodes {
		for _, next := range p.Succ(int32(n)) {
			s := &g.Steps[end[n]]
			s.Next = append(s.Next, begin[next])
		}
	}
	return begin[0], end[len(end)-1]
}

// task says what the step i does, adds the steps behind which it ends, and returns the last.
func (g *steps) task(i int, a *PlanAtom) (last int) {
	g.names[i] = a.Name()
	g.reverts = g.reverts || a.Language == nil && a.Reverts()
	s := &g.Steps[i]
	run := a.Run
	inner := (*Plan)(nil)
	switch {
	case run == nil:
	case run.Detached:
		g.detached = append(g.detached, run.Plan)
	case run.Items != "":
		inner = run.Body
	default:
		inner = run.Plan
	}
	if inner == nil || inner.grows() {
		s.Fails, s.Pivot, s.Stays = true, a.IsPivot(), a.StaysDone() && !a.IsPivot()
		if run != nil && run.Items != "" {
			s.Next = append(s.Next, i) // another item may follow
		}
		return i
	}
	first, end := g.plan(inner)
	last = g.add("")
	g.Steps[last].Pivot = a.IsPivot()
	g.Steps[i].Next = append(g.Steps[i].Next, first, last) // of no item, or past a pivot, which is none of this run
	g.Steps[end].Next = append(g.Steps[end].Next, last)
	if run.Items != "" {
		g.Steps[end].Next = append(g.Steps[end].Next, first) // another item may follow
	}
	return last
}

func (g *steps) warning() (string, bool) {
	if !g.reverts {
		return "", false
	}
	var names []string
	for _, i := range g.Staying() {
		if name := g.names[i]; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	return stepgraph.Text("task", "Revert", names) + "; write a Revert, or say atom.NoEffect() or atom.Pivot()", true
}
