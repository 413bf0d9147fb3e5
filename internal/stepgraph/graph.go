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
	Pivot  bool  // after its success, nothing before the step is undone
}

// A Graph has the steps of a definition, from the first one.
type Graph struct {
	Steps []Step
	Forks []Fork

	// Concurrent says that each step runs as soon as all steps before it have succeeded. Steps that no edge orders then
	// run side by side. Otherwise only those in the branches of a fork do.
	Concurrent bool
}

// A Fork has branches that run side by side.
type Fork []Branch

// A Branch has the steps from First up to, but not including, End.
type Branch struct{ First, End int }

// Add adds a step and returns its index.
func (g *Graph) Add(s Step) int {
	g.Steps = append(g.Steps, s)
	return len(g.Steps) - 1
}

// Staying returns the indexes of the steps that stay done although a step can fail after their success, in order. The
// failing step follows, or runs at the same time. A step that failed itself did not stay done. A step that only runs
// behind a pivot does not count, because the flow then goes forward.
func (g *Graph) Staying() []int {
	failing, reached := g.failing(), g.withoutPivot()
	beside := g.besideFailures(reached)
	var list, last []int
	for i := range g.Steps {
		s := &g.Steps[i]
		switch {
		case !s.Stays || !reached[i]:
		case beside[i] || slices.ContainsFunc(s.Next, func(next int) bool { return failing[next] }):
			list = append(list, i)
		case g.Concurrent:
			last = append(last, i)
		}
	}
	for _, i := range last {
		if g.unordered(i, last) {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return list
}

// besideFailures returns which steps are in a branch of a fork while a step in another branch can fail.
func (g *Graph) besideFailures(reached []bool) []bool {
	beside := make([]bool, len(g.Steps))
	for _, fork := range g.Forks {
		var failing []int // branches with a step that can fail
		for n, b := range fork {
			for i := b.First; i < b.End; i++ {
				if g.Steps[i].Fails && reached[i] {
					failing = append(failing, n)
					break
				}
			}
		}
		for n, b := range fork {
			if len(failing) > 1 || len(failing) == 1 && failing[0] != n {
				for i := b.First; i < b.End; i++ {
					beside[i] = true
				}
			}
		}
	}
	return beside
}

// unordered reports whether another step can fail that does not have to succeed before the given one. No step of last
// leads to another one of them.
func (g *Graph) unordered(step int, last []int) bool {
	if slices.ContainsFunc(last, func(i int) bool { return i != step && g.Steps[i].Fails }) {
		return true
	}
	before := g.before([]int{step})
	for i := range g.Steps {
		if g.Steps[i].Fails && !before[i] {
			return true
		}
	}
	return false
}

// failing returns which steps can fail, or lead to a step that can.
func (g *Graph) failing() []bool {
	var fail []int
	for i := range g.Steps {
		if g.Steps[i].Fails {
			fail = append(fail, i)
		}
	}
	return g.before(fail)
}

// before returns which steps are among the given ones, or lead to one of them.
func (g *Graph) before(steps []int) []bool {
	pred := make([][]int, len(g.Steps))
	for i := range g.Steps {
		for _, list := range [][]int{g.Steps[i].Next, g.Steps[i].Caught} {
			for _, next := range list {
				pred[next] = append(pred[next], i)
			}
		}
	}
	before := make([]bool, len(g.Steps))
	todo := slices.Clone(steps)
	for _, i := range steps {
		before[i] = true
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range pred[i] {
			if !before[p] {
				before[p] = true
				todo = append(todo, p)
			}
		}
	}
	return before
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

// named is the number of steps that a text names.
const named = 3

// Text says which work stays done, for a warning: "task \"a\" has no Revert and …". what is the language's word for a
// step, and revert its word for what undoes a step.
func Text(what, revert string, names []string) string {
	quoted := make([]string, 0, named)
	for _, name := range names[:min(len(names), named)] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(names) == 1 {
		return fmt.Sprintf("%s %s has no %s, and a step can fail after it has succeeded: if the run is undone, what it "+
			"did stays done",
			what, quoted[0], revert)
	}
	list := strings.Join(quoted, ", ")
	if more := len(names) - len(quoted); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%ss %s have no %s, and a step can fail after they have succeeded: if the run is undone, what "+
		"they did stays done",
		what, list, revert)
}
