package check

import (
	"slices"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/stepgraph"
)

// staysDone warns once if the work of calls stays done when the machine is undone. A machine that undoes nothing at all
// has no such warning.
func (c *checker) staysDone(m *syntax.Machine) {
	if !m.Undoes || m.Start == nil {
		return
	}
	g := &steps{calls: map[int]*syntax.Action{}, enter: map[*syntax.State]int{}}
	start := g.Add(stepgraph.Step{})
	for _, s := range m.States {
		g.enter[s] = g.Add(stepgraph.Step{})
	}
	g.Steps[start].Next = []int{g.enter[m.Start]}
	for _, s := range m.States {
		g.state(s)
	}
	var names []string
	var first *syntax.Action
	for _, i := range g.Staying() {
		if names = append(names, g.calls[i].Title); first == nil {
			first = g.calls[i]
		}
	}
	if first != nil {
		c.Fixf(ruleStaysDone, c.calls[first], `such as "revert": {"functionName": …}, "none" if it has no effect, or false`,
			"%s", stepgraph.Text("call", "revert", names))
	}
}

// steps are the actions of a machine as a graph.
type steps struct {
	stepgraph.Graph

	calls map[int]*syntax.Action
	enter map[*syntax.State]int // where a state begins
}

// state adds the actions of a state: on entering it, on leaving it, and of its transitions.
func (g *steps) state(s *syntax.State) {
	over := g.Add(stepgraph.Step{}) // what comes when the state is left
	for _, t := range s.Transitions {
		if t.Trigger == syntax.Inert {
			continue
		}
		next := s
		if t.Next != nil {
			next = t.Next
		}
		first := g.action(t.Effect.Action, g.enter[next])
		g.Steps[over].Next = append(g.Steps[over].Next, first)
	}
	left := g.action(s.Exit.Action, over)
	g.Steps[g.enter[s]].Next = []int{g.action(s.Enter.Action, left)}
}

// action adds an action and returns its first step. After the action comes the step next.
func (g *steps) action(a *syntax.Action, next int) int {
	switch {
	case a == nil:
		return next
	case a.Calls() && (a.Function == nil || a.Function.Formula == nil):
		r := a.Revert
		i := g.Add(stepgraph.Step{Next: []int{next}, Fails: a.Waits, Pivot: r != nil && r.Pivot, Stays: r == nil})
		g.calls[i] = a
		return i
	case a.Forks():
		join := g.Add(stepgraph.Step{Next: []int{next}})
		all := g.Add(stepgraph.Step{Next: []int{join}}) // the path of a foreach without items
		var fork stepgraph.Fork
		for _, child := range a.Children {
			begin := len(g.Steps)
			first := g.action(child, join)
			g.Steps[all].Next = append(g.Steps[all].Next, first)
			fork = append(fork, stepgraph.Branch{First: begin, End: len(g.Steps)})
			if a.Kind == syntax.ForeachAction { // another item may follow
				g.Steps[join].Next = append(g.Steps[join].Next, first)
			}
		}
		g.Forks = append(g.Forks, fork)
		return all
	default:
		for _, child := range slices.Backward(a.Children) {
			next = g.action(child, next)
		}
		return next
	}
}
