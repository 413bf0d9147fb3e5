package driver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// Limits bound the size of one run. They have the fields of the Limits of package engine, which converts them.
type Limits struct {
	Transitions, Atoms, Values, Iterations, Bytes, Descendants, Depth, Memory int64
}

// reached returns the failure of a run that reached a limit.
func reached(name string, most int64, what string) *atom.Failure {
	return &atom.Failure{
		Code: atom.CodeLimit,
		Message: fmt.Sprintf("the run reached its limit of %d %s; the setting is %s of engine.WithLimits and of ebb "+
			"--run-limit",
			most, what, name),
	}
}

// count counts an answer of a language. If a limit does not allow the answer, count returns the failure.
func (q *asker) count(asked *scheduler.Command, g *flow.Growth) *atom.Failure {
	if asked.Cause.Kind == flow.Stopped || q.s.IsEnding() {
		return nil
	}
	l, done := &q.env.Limits, q.next.Head.Iterations+max(g.Steps, 1)
	alive, held := q.s.After(asked, g)
	switch {
	case done > l.Iterations,
		slices.ContainsFunc(g.Add, func(s flow.Spec) bool {
			return s.Group != nil &&
				int64(s.Group.Count) > l.Iterations-done
		}):
		return l.outgrown() // each child takes a step and reserves space for its result when it starts
	case done-q.next.Head.Waited > l.Transitions:
		return reached("transitions", l.Transitions, "transitions without a wait")
	case alive > l.Atoms:
		return reached("atoms", l.Atoms, "atoms open at once")
	case held > l.Values:
		return reached("values", l.Values, "bytes of values that open atoms hold")
	case q.next.Head.Bytes > l.Bytes:
		return l.overfull()
	}
	q.next.Head.Iterations = done
	return nil
}

func (l *Limits) outgrown() *atom.Failure { return reached("iterations", l.Iterations, "iterations") }

func (l *Limits) overfull() *atom.Failure {
	return reached("bytes", l.Bytes, "bytes of history, payloads and inputs of child runs")
}

// join makes a run a child of the driven run. If a limit forbids that, join returns the failure.
func (c *children) join(child *storage.Run) (*atom.Failure, error) {
	child.Parent, child.Root, child.Depth = c.claim.Run, cmp.Or(c.family.root, c.claim.Run), c.family.depth+1
	l := &c.env.Limits
	if child.Depth > l.Depth {
		return reached("depth", l.Depth, "runs that create one another in a line"), nil
	}
	if !c.family.counted {
		born, err := c.env.Store.Descendants(c.storing, child.Root)
		if err != nil {
			return nil, WrapStore(c.claim.Run, err)
		}
		c.family.born, c.family.counted = born, true
	}
	if c.family.born+int64(len(c.next.Children)) >= l.Descendants {
		f := reached("descendants", l.Descendants, "descendants of the run "+strconv.Quote(child.Root))
		return f, nil
	}
	return nil, nil //nolint:nilnil // no limit, no error
}

// OpenSize is a lower bound for the memory of any open node or child flow, in bytes, without its values.
//
//limit:memory a run that grows while the budget is reached: {B} per open atom, and its values (`Server.Serve`,
//limit:and `Engine.Run`) | 1/3 of the budget | set aside with `Ebb.LimitExceeded`
const OpenSize = 512

// exceeds reports whether to set the run aside. It does if three conditions hold: the process
// has reached its memory budget, the answer would make the run larger, and the run alone needs
// more than a third of the budget. Its need is estimated low: a process that loads the run
// needs more. So at most two other runs of the process can be as large. A run that is small,
// or no longer grows, is never set aside.
func (q *asker) exceeds(asked *scheduler.Command, g *flow.Growth) bool {
	m := &q.env.Memory
	if asked.Cause.Kind == flow.Stopped || q.s.IsEnding() || !m.Exhausted(q.next.Now) {
		return false
	}
	atoms, values := q.s.After(asked, g)
	needs := atoms*OpenSize + values
	if needs <= q.s.Alive()*OpenSize+q.s.Held() || needs <= m.Budget/3 { //nolint:mnd // a third
		return false
	}
	q.att.quit = true
	q.att.aside = &atom.Failure{
		Code: atom.CodeLimit,
		Message: fmt.Sprintf("the memory budget of its process, %d bytes, is used up, and the run alone needs more than a "+
			"third of it: "+
			"it has %d open atoms with %d bytes of values; the setting is Memory of engine.WithLimits and ebb --memory",
			m.Budget, atoms, values),
	}
	return true
}
