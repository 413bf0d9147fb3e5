package driver

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// children are the runs that a run has begun and waits for, or has undone.
type children struct {
	*run

	mode  *Mode
	att   *attention
	calls *executor.Executor
	byID  map[string]origin // what each run belongs to
	begun []childRun        // to be driven beside this run, once their begin is committed
	group sync.WaitGroup    // of the child runs that are driven
	busy  atomic.Int64      // number of child runs that are driven

	mu     sync.Mutex
	driven map[string]bool // by id: child runs that are driven; true if they are to be driven once more after that

	family  family
	descent descent
}

// A family is the position of a run among the runs that create one another.
type family struct {
	parent  string        // id of the parent run
	root    string        // see storage.Run
	depth   int64         // see storage.Run
	plain   bool          // see storage.Run.PlainKeys
	born    int64         // descendants of the root, as last read
	counted bool          // born was read since the last commit
	barren  *atom.Failure // why the run must not create another child; nil if it may
}

// spawn begins the run of an origin, in the commit that begins the origin. The input is that of an atom
// of the plan.
func (c *children) spawn(o origin, input atom.Value) error {
	child := c.childOf(o)
	id, ev := c.idOf(o), o.completed()
	fail := func(code, why string) error {
		ev.Failure = &atom.Failure{
			Atom: c.pathOf(o), Attempt: int(c.recordOf(o).Attempt), Code: code, Message: why,
			Untaken: c.recordOf(o).NoneBegunBefore(),
		}
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	had, err := c.env.Store.Run(c.storing, id)
	if err == nil && child.Reopen && had.Parent == c.claim.Run {
		return c.reopen(o, &had)
	}
	if err == nil || id == c.claim.Run { // the id may be that of this run, which is not stored yet
		return fail(atom.CodeRunExists, fmt.Sprintf("run %q exists already", id))
	} else if !errors.Is(err, storage.ErrNotFound) {
		return WrapStore(c.claim.Run, err)
	}
	run, failed, err := newRuns{c.run, cmp.Or(c.family.root, c.claim.Run)}.prepare(id, child, input)
	if err != nil {
		return err
	}
	if failed == nil && child.Key != "" {
		if failed, err = (newRuns{run: c.run}).keyTaken(child.Key); err != nil {
			return err
		}
	}
	if failed != nil {
		return fail(failed.Code, failed.Message)
	}
	switch f, failed := c.join(&run); {
	case failed != nil:
		return failed
	case f != nil: // the failure of the run comes first, see restrain
		c.family.barren, ev.Failure = f, f
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // it takes failed for set
	}
	run.PlainKeys = c.plainChild(id)
	c.next.Create(run)
	c.reportBegun(o, id)
	if child.Detached {
		c.note(Event{Path: c.pathOf(o), Kind: RunDetached, Name: id})
		return nil
	}
	c.byID[id] = o
	if c.env.Runs.Drives(child.Flow) {
		c.begun = append(c.begun, childRun{id, &run})
	}
	return nil
}

// plainChild reports whether the keys of a child of this run have its id as it is, as those of this run have theirs. It
// is false if a name of this run could be such that a node in it has the same key as one of the child.
func (c *children) plainChild(id string) bool {
	at, inside := strings.CutPrefix(id, c.claim.Run+"/")
	if !inside || strings.Contains(at, "@") || strings.HasSuffix(at, "]") {
		return false
	}
	for i := range c.plan.Atoms {
		if !c.Grows() && strings.Contains(c.plan.Atoms[i].Name(), "/") {
			return false
		}
	}
	if c.family.plain { // of a run that an earlier version created, the id may be anything
		return c.family.parent != "" && !strings.HasSuffix(c.claim.Run, "]")
	}
	return strings.HasPrefix((&atom.Call{Run: c.claim.Run}).Key(), c.claim.Run+"/")
}

// reportBegun lets the scheduler know that a run exists, where that ends its origin or is to be reported.
func (c *children) reportBegun(o origin, id string) {
	ev := o.completed()
	switch token := o.node != nil && o.node.Spec.Token != ""; {
	case o.node != nil && o.node.Spec.Report:
		ev.Kind = scheduler.Deferred
	case c.childOf(o).Detached && !token:
		ev.Result = atom.MustEncode(id)
	default:
		return
	}
	c.ends.list = append(c.ends.list, ev)
}

// rejoin resumes the runs that the run waits for, when a process loads the run. If the
// process died after an origin's end was known and before its commit, the origin ends again:
// it waits for no run, or began none.
func (c *children) rejoin() error {
	for o := range c.origins {
		if !c.awaits(o) {
			continue
		}
		id, child := c.idOf(o), c.childOf(o)
		run, err := c.env.Store.Run(c.storing, id)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return WrapStore(c.claim.Run, err)
		case err != nil || run.Parent != c.claim.Run:
			if err := c.spawnAgain(o); err != nil {
				return err
			}
		case child.Detached && o.node != nil && o.node.Spec.Token != "": // it has begun, and another party has the token
		case child.Detached:
			ev := o.completed()
			ev.Result = atom.MustEncode(id)
			c.ends.list = append(c.ends.list, ev)
		case child.Reopen && run.State == states.FlowSuccess: // perhaps it had succeeded before, and no message says so
			delete(c.byID, id)
			c.succeeded(o, &run)
		case c.env.Runs.Drives(child.Flow):
			c.begun = append(c.begun, childRun{id: id})
		}
	}
	return nil
}

// spawnAgain begins the run of an origin whose begin was committed without the run.
func (c *children) spawnAgain(o origin) error {
	if o.node != nil {
		return c.spawn(o, o.node.Spec.Input)
	}
	in, missing := c.s.Args(o.atom)
	return c.spawnPlanned(o, in, missing)
}

// spawnPlanned begins the run of an atom of the plan with the atom's arguments.
func (c *children) spawnPlanned(o origin, in atom.Values, missing *atom.Failure) error {
	if missing != nil {
		ev := o.completed()
		ev.Failure = missing
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // missing is the failure of the atom, not an error of the driver
	}
	input := in.Input()
	if input == nil {
		input = in.Object()
	}
	return c.spawn(o, input)
}

// undoChild undoes an origin by having its run undone. If an undo of that run has failed before, its failed reverts are
// retried. A run in which nothing can be undone has been cancelled by dropChild. The undo only waits for its end: the
// run may depend on what is undone next.
func (c *children) undoChild(o origin) error {
	id := c.idOf(o)
	delete(c.byID, id) // a message about an earlier end of the run does not end the undo a second time
	ev := o.undone()
	if !c.undoes(o) && c.childOf(o).Detached {
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	run, err := c.env.Store.Run(c.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.ends.list = append(c.ends.list, ev)
		return nil
	case err != nil:
		return WrapStore(c.claim.Run, err)
	case !c.undoes(o) && run.Parent == c.claim.Run && run.State.Ended():
		if ev.Untaken, err = c.didNothing(o, &run); err == nil {
			c.ends.list = append(c.ends.list, ev)
		}
		return err
	case run.Parent != c.claim.Run, // it existed before, and this run did not begin it
		run.State == states.FlowReverted, run.State == states.FlowFailure && run.Undo == storage.UndoNone:
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	command := inbox.Command{Kind: inbox.Cancel, Why: inbox.Cancelled("its parent run is being undone"), Undo: c.undoes(o)}
	if run.State == states.FlowFailure && run.Undo == storage.UndoFailed {
		command = inbox.Command{Kind: inbox.RetryRevert}
	}
	l, err := command.Message(id)
	if err != nil {
		return err
	}
	c.next.Send(l)
	c.byID[id] = o
	if c.env.Runs.Drives(c.childOf(o).Flow) {
		c.begun = append(c.begun, childRun{id: id})
	}
	return nil
}

// dropChild stops waiting for the run of an origin. It ends that run, unless leave is set. The run is undone as its
// origin would be, unless nothing is undone any longer.
func (c *children) dropChild(o origin, leave bool) error {
	id := c.idOf(o)
	if c.byID[id] != o {
		return nil
	}
	delete(c.byID, id)
	if leave {
		return nil
	}
	undo := c.undoes(o) && !c.s.IsAbandoned()
	if told, err := c.descent.wasTold(id, undo); told || err != nil {
		return err
	}
	l, err := drop(id, undo, false)
	if err != nil {
		return err
	}
	c.descent.dropped = append(c.descent.dropped, told{run: id, undo: undo, sent: true})
	c.next.Send(l)
	return nil
}
