package check

import (
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/stepgraph"
)

// staysDone warns once if the work of states stays done when the machine is undone. A machine that undoes nothing at
// all has no such warning.
func (c *checker) staysDone(m *syntax.Machine) {
	if !m.Undoes {
		return
	}
	g := &steps{of: map[*syntax.State]int{}}
	start := g.Add(stepgraph.Step{})
	g.Steps[start].Next = []int{g.level(m.Top, g.Add(stepgraph.Step{}))}
	var names []string
	for _, i := range g.Staying() {
		names = append(names, g.names[i])
	}
	if len(names) > 0 {
		c.Fixf(ruleStaysDone, c.names[names[0]], `such as "Revert": "exec:./undo.sh", "none" if it has no effect, or false`,
			"%s", stepgraph.Text("state", "Revert", names))
	}
}

// steps are the states of a machine as a graph.
type steps struct {
	stepgraph.Graph

	of    map[*syntax.State]int
	names map[int]string
}

// level adds the states of a level and returns the first one. After the level comes the step end.
func (g *steps) level(l *syntax.Level, end int) int {
	if g.names == nil {
		g.names = map[int]string{}
	}
	for _, s := range l.States {
		i := g.Add(stepgraph.Step{
			Fails: s.Kind == syntax.TaskState || s.Kind == syntax.FailState,
			Pivot: s.Revert != nil && s.Revert.Never,
			Stays: s.Kind == syntax.TaskState && s.Revert == nil,
		})
		g.of[s], g.names[i] = i, s.Name
	}
	for _, s := range l.States {
		i := g.of[s]
		var next, caught []int
		for j := range s.Catch {
			caught = append(caught, g.of[s.Catch[j].Out.Next])
		}
		for _, state := range s.Follows() {
			next = append(next, g.of[state])
		}
		if s.Ends {
			next = append(next, end)
		}
		if inner := s.Within(); len(inner) > 0 { // the inner levels come between
			join := g.Add(stepgraph.Step{Next: next})
			next = []int{join} // the path of a Map without items
			var fork stepgraph.Fork
			for _, l := range inner {
				first := len(g.Steps)
				next = append(next, g.level(l, join))
				fork = append(fork, stepgraph.Branch{First: first, End: len(g.Steps)})
			}
			if s.Items != nil { // another item may follow
				g.Steps[join].Next = append(g.Steps[join].Next, next[1])
			}
			g.Forks = append(g.Forks, fork)
		}
		g.Steps[i].Next, g.Steps[i].Caught = next, caught
	}
	return g.of[l.Start]
}
