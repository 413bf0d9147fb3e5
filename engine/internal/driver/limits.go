package driver

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/memorybudget"
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
func (q *asker) count(asked *scheduler.Command, g *grow.Growth) *atom.Failure {
	if asked.Cause.Kind == grow.Stopped || q.s.IsEnding() {
		return nil
	}
	l, done := &q.env.Limits, q.Draft.Head.Iterations+max(g.Steps, 1)
	alive, held := q.s.After(asked, g)
	switch {
	case done > l.Iterations,
		slices.ContainsFunc(g.Add, func(s grow.Spec) bool {
			return s.Group != nil &&
				int64(s.Group.Count) > l.Iterations-done
		}):
		return l.outgrown() // each child takes a step and reserves space for its result when it starts
	case done-q.Draft.Head.Waited > l.Transitions:
		return reached("transitions", l.Transitions, "transitions without a wait")
	case alive > l.Atoms:
		return reached("atoms", l.Atoms, "atoms open at once")
	case held > l.Values:
		return reached("values", l.Values, "bytes of values that open atoms hold")
	case q.Draft.Head.Bytes > l.Bytes:
		return l.overfull()
	}
	q.Draft.Head.Iterations = done
	return nil
}

func (l *Limits) outgrown() *atom.Failure { return reached("iterations", l.Iterations, "iterations") }

func (l *Limits) overfull() *atom.Failure {
	return reached("bytes", l.Bytes, "bytes of history, payloads and inputs of child runs")
}

// join makes a run a child of the driven run. If a limit forbids that, join returns the failure.
func (c *children) join(child *storage.Run) (*atom.Failure, error) {
	child.Parent, child.Root, child.Depth = c.Claim.Run, cmp.Or(c.family.root, c.Claim.Run), c.family.depth+1
	l := &c.env.Limits
	if child.Depth > l.Depth {
		return reached("depth", l.Depth, "runs that create one another in a line"), nil
	}
	if !c.family.counted {
		born, err := c.env.Store.Descendants(c.storing, child.Root)
		if err != nil {
			return nil, c.Wrap(err)
		}
		c.family.born, c.family.counted = born, true
	}
	if c.family.born+int64(len(c.Draft.Children)) >= l.Descendants {
		f := reached("descendants", l.Descendants, "descendants of the run "+strconv.Quote(child.Root))
		return f, nil
	}
	return nil, nil //nolint:nilnil // no limit, no error
}

// OpenSize is a lower bound for the memory of any open node or child flow, in bytes, without its values.
//
//limit:memory a run that grows while the budget is reached: {B} per open atom, and its values (`Server.Serve`,
//limit:and `Engine.Run`) | 1/3 of the budget; 2/3 beside others that need a third | set aside with `Ebb.LimitExceeded`
//limit:memory runs that grow while the budget is reached, and together need a third of it (`Server.Serve`) | one, and
//limit:and those that need less than an equal part of the third | give their places back until half of it is free
const OpenSize = 512

// exceeds reports whether the run must not grow now: the process has reached its memory budget, the answer would make
// the run larger, and [memorybudget.Shares] judge that it is set aside or gives its place back. What it needs is
// estimated low: a process that loads the run needs more. A run that is small, or no longer grows, goes on.
func (q *asker) exceeds(asked *scheduler.Command, g *grow.Growth) bool {
	m := &q.env.Memory
	if m.Budget <= 0 {
		return false
	}
	atoms, values := q.s.After(asked, g)
	needs, has := atoms*OpenSize+values, q.needs()
	if !m.Exhausted(q.Draft.Now) {
		m.Shares.Recover()
	} else if asked.Cause.Kind != grow.Stopped && !q.s.IsEnding() && needs > has {
		switch leaves := q.mode.Unload && !q.telling; m.Shares.Judge(q.Claim.Run, needs, m.Budget, leaves) {
		case memorybudget.IsTooLarge:
			q.att.quit = true
			q.att.aside = &atom.Failure{
				Code: atom.CodeLimit,
				Message: fmt.Sprintf("the memory budget of its process, %d bytes, is used up, and the run alone needs more "+
					"than a third of it: "+
					"it has %d open atoms with %d bytes of values; the setting is Memory of engine.WithLimits and ebb --memory",
					m.Budget, atoms, values),
			}
			return true
		case memorybudget.GivesBack:
			q.crowded = true
			return true
		case memorybudget.Grows:
		}
	}
	m.Shares.Set(q.Claim.Run, needs)
	return false
}

// needs returns how much memory the run needs, in bytes.
func (r *run) needs() int64 { return r.s.Alive()*OpenSize + r.s.Held() }
