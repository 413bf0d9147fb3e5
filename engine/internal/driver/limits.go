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

// Limits bound what one run may become. They are those of package engine.
type Limits struct {
	Transitions, Atoms, Values, Iterations, Bytes, Descendants, Depth, Memory int64
}

// reached returns the failure of a run that reached a limit.
func reached(name string, most int64, what string) *atom.Failure {
	return &atom.Failure{
		Code: atom.CodeLimit,
		Message: fmt.Sprintf("the run reached its limit of %d %s; the setting is %s of engine.WithLimits and of ebb --run-limit",
			most, what, name),
	}
}

// count counts an answer of a language, or returns which limit keeps the run from
// following it.
func (d *Driver) count(asked *scheduler.Command, g *flow.Growth) *atom.Failure {
	if asked.Cause.Kind == flow.Stopped || d.s.IsEnding() {
		return nil
	}
	l, done := &d.env.Limits, d.next.Head.Iterations+max(g.Steps, 1)
	alive, held := d.s.After(asked, g)
	switch {
	case done > l.Iterations, slices.ContainsFunc(g.Add, func(s flow.Spec) bool { return s.Group != nil && int64(s.Group.Count) > l.Iterations-done }):
		return l.outgrown() // each child takes a step, and has space for its result from the beginning
	case done-d.next.Head.Waited > l.Transitions:
		return reached("transitions", l.Transitions, "transitions without a wait")
	case alive > l.Atoms:
		return reached("atoms", l.Atoms, "atoms open at once")
	case held > l.Values:
		return reached("values", l.Values, "bytes of values that open atoms hold")
	case d.next.Head.Bytes > l.Bytes:
		return l.overfull()
	}
	d.next.Head.Iterations = done
	return nil
}

func (l *Limits) outgrown() *atom.Failure { return reached("iterations", l.Iterations, "iterations") }

func (l *Limits) overfull() *atom.Failure {
	return reached("bytes", l.Bytes, "bytes of history and payloads")
}

// join makes a run a child of the one that is driven, or returns which limit forbids that.
func (d *Driver) join(child *storage.Run) (*atom.Failure, error) {
	child.Parent, child.Root, child.Depth = d.claim.Run, cmp.Or(d.root, d.claim.Run), d.depth+1
	l := &d.env.Limits
	if child.Depth > l.Depth {
		return reached("depth", l.Depth, "runs that create one another in a line"), nil
	}
	if !d.counted {
		born, err := d.env.Store.Descendants(d.storing, child.Root)
		if err != nil {
			return nil, storeError(d.claim.Run, err)
		}
		d.born, d.counted = born, true
	}
	if d.born+int64(len(d.next.Children)) >= l.Descendants {
		f := reached("descendants", l.Descendants, "descendants of the run "+strconv.Quote(child.Root))
		return f, nil
	}
	return nil, nil //nolint:nilnil // no limit, no error
}

// restrain fails a run that may not create another one, or a run of a plan that has begun
// an attempt too many. That attempt is not made.
func (d *Driver) restrain() error {
	if f := d.barren; f != nil {
		d.barren = nil
		if !d.s.IsEnding() {
			return d.feed(scheduler.Event{Kind: scheduler.Exceeded, Failure: f})
		}
	}
	if !d.attempted {
		return nil
	}
	d.attempted = false
	l := &d.env.Limits
	var f *atom.Failure
	switch {
	case d.s.IsEnding():
	case d.next.Head.Iterations > l.Iterations:
		f = l.outgrown()
	case d.next.Head.Bytes > l.Bytes:
		f = l.overfull()
	}
	if f == nil {
		return nil
	}
	return d.feed(scheduler.Event{Kind: scheduler.Exceeded, Failure: f})
}

// OpenSize is less than any open node or child flow takes in memory, beside its values.
const OpenSize = 512

// exceeds reports whether the run is to be set aside, as an answer of its language would make
// it larger while the process's memory budget is reached, and the run alone needs more than
// a third of that. What it needs is counted low: a process that loads the run needs more.
// So at most two other runs of the process can be as large. A run that is small, or grows no
// more, is never set aside.
func (d *Driver) exceeds(asked *scheduler.Command, g *flow.Growth) bool {
	m := &d.env.Memory
	if asked.Cause.Kind == flow.Stopped || d.s.IsEnding() || !m.Exhausted(d.next.Now) {
		return false
	}
	atoms, values := d.s.After(asked, g)
	needs := atoms*OpenSize + values
	if needs <= d.s.Alive()*OpenSize+d.s.Held() || needs <= m.Budget/3 { //nolint:mnd // a third
		return false
	}
	d.quit = true
	d.aside = &atom.Failure{
		Code: atom.CodeLimit,
		Message: fmt.Sprintf("the memory budget of its process, %d bytes, is used up, and the run alone needs more than a third of it: "+
			"it has %d open atoms with %d bytes of values; the setting is Memory of engine.WithLimits and ebb --memory", m.Budget, atoms, values),
	}
	return true
}
