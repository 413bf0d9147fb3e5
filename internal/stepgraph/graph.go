package stepgraph

import (
	"fmt"
	"slices"
	"strings"
)

// A Step is a node of a [Graph].
type Step struct {
	Next   []int // steps that may follow when the step has succeeded
	Caught []int // steps that may follow when the step has failed
	Stays  bool  // nothing undoes the step, and it may have an effect
	Fails  bool  // the step can fail
	Pivot  bool  // nothing before the step is undone once it has succeeded
}

// A Graph has the steps of a definition. They begin with the first.
type Graph struct{ Steps []Step }

// Add adds a step and returns its index.
func (g *Graph) Add(s Step) int {
	g.Steps = append(g.Steps, s)
	return len(g.Steps) - 1
}

// Staying returns the indexes of the steps that stay done although a later step can fail, in their order. Only what
// follows the success of a step is later: a step that failed did not stay done. A step that only runs behind a pivot
// does not count either: the flow goes forward from there.
func (g *Graph) Staying() []int {
	failing, reached := g.failing(), g.withoutPivot()
	var list []int
	for i := range g.Steps {
		s := &g.Steps[i]
		if s.Stays && reached[i] && slices.ContainsFunc(s.Next, func(next int) bool { return failing[next] }) {
			list = append(list, i)
		}
	}
	return list
}

// failing returns which steps can fail, or have such a step behind them.
func (g *Graph) failing() []bool {
	pred := make([][]int, len(g.Steps))
	failing := make([]bool, len(g.Steps))
	var todo []int
	for i := range g.Steps {
		for _, list := range [][]int{g.Steps[i].Next, g.Steps[i].Caught} {
			for _, next := range list {
				pred[next] = append(pred[next], i)
			}
		}
		if failing[i] = g.Steps[i].Fails; failing[i] {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range pred[i] {
			if !failing[p] {
				failing[p] = true
				todo = append(todo, p)
			}
		}
	}
	return failing
}

// withoutPivot returns which steps a run can reach before any pivot has succeeded.
func (g *Graph) withoutPivot() []bool {
	reached := make([]bool, len(g.Steps))
	if len(g.Steps) == 0 {
		return reached
	}
	reached[0] = true
	for todo := []int{0}; len(todo) > 0; {
		s := &g.Steps[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		follow := func(list []int) {
			for _, next := range list {
				if !reached[next] {
					reached[next] = true
					todo = append(todo, next)
				}
			}
		}
		follow(s.Caught)
		if !s.Pivot {
			follow(s.Next)
		}
	}
	return reached
}

// named is how many steps a text names.
const named = 3

// Text says what stays done, for a warning: "task \"a\" has no Revert and …". what is the language's word for a step,
// and revert the language's word for what undoes it.
func Text(what, revert string, names []string) string {
	quoted := make([]string, 0, named)
	for _, name := range names[:min(len(names), named)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(names) == 1 {
		return fmt.Sprintf("%s %s has no %s and comes before a step that can fail: if the run is undone, what it did "+
			"stays done",
			what, quoted[0], revert)
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%ss %s have no %s and come before a step that can fail: if the run is undone, what they did "+
		"stays done",
		what, list, revert)
}
