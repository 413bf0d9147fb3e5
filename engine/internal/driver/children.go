package driver

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// children are the runs that a run has begun and waits for, or has undone.
type children struct {
	*run

	mode    *Mode
	att     *attention
	calls   *executor.Executor
	open    *attempts.Table
	begun   []childRun        // to be driven beside this run, once their begin is committed
	delayed []*scheduler.Unit // whose runs must not begin yet, see delay
	group   sync.WaitGroup    // of the child runs that are driven
	busy    atomic.Int64      // number of child runs that are driven

	mu     sync.Mutex
	driven map[string]bool // by id: child runs that are driven; true if they are to be driven once more after that

	family  family
	descent descent
}

// A family is the position of a run among the runs that create one another.
type family struct {
	parent     string        // id of the parent run
	root       string        // see storage.Run
	depth      int64         // see storage.Run
	plain      bool          // see storage.Run.PlainKeys
	born       int64         // descendants of the root, as last read
	counted    bool          // born was read since the last commit
	stops      bool          // a stop is on its way to the run, as last looked
	looked     bool          // stops is as of the last commit
	childLimit *atom.Failure // why the run must not create another child; nil if it may
}

// spawn begins the run of a unit, in the commit that begins the unit. The input is that of an atom
// of the plan.
func (c *children) spawn(u *scheduler.Unit, input atom.Value) error {
	if delayed, err := c.delay(u); delayed || err != nil {
		return err
	}
	child := attempts.ChildOf(u)
	id, ev := c.open.RunOf(u), u.Ended()
	fail := func(code, why string) error {
		ev.Failure = &atom.Failure{
			Atom: u.Path, Attempt: int(u.Rec.Attempt), Code: code, Message: why,
			Untaken: u.Rec.NoneBegunBefore(),
		}
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	had, err := c.env.Store.Run(c.storing, id)
	if err == nil && child.Reopen && had.Parent == c.Claim.Run {
		return c.reopen(u, &had)
	}
	if err == nil || id == c.Claim.Run { // the id may be that of this run, which is not stored yet
		return fail(atom.CodeRunExists, fmt.Sprintf("run %q exists already", id))
	} else if !errors.Is(err, storage.ErrNotFound) {
		return c.Wrap(err)
	}
	run, failed, err := c.prepareRun(id, c.Claim.Run, cmp.Or(c.family.root, c.Claim.Run), child, input)
	if err != nil {
		return err
	}
	if failed == nil && child.Key != "" {
		if failed, err = c.keyTaken(child.Key); err != nil {
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
		c.family.childLimit, ev.Failure = f, f
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // it takes failed for set
	}
	run.PlainKeys = c.plainChild(id)
	c.Draft.Create(run)
	c.reportBegun(u, id)
	if child.Detached {
		c.note(Event{Path: u.Path, Kind: RunDetached, Name: id})
		return nil
	}
	c.open.AwaitRun(id, u)
	if c.env.Runs.Drives(child.Flow) {
		c.begun = append(c.begun, childRun{id, &run})
	}
	return nil
}

// plainChild reports whether the keys of a child of this run have its id as it is, as those of this run have theirs. It
// is false if a name of this run could be such that a node in it has the same key as one of the child.
func (c *children) plainChild(id string) bool {
	at, inside := strings.CutPrefix(id, c.Claim.Run+"/")
	if !inside || strings.Contains(at, "@") || strings.HasSuffix(at, "]") {
		return false
	}
	for i := range c.plan.Atoms {
		if !c.Grows() && strings.Contains(c.plan.Atoms[i].Name(), "/") {
			return false
		}
	}
	if c.family.plain { // of a run that an earlier version created, the id may be anything
		return c.family.parent != "" && !strings.HasSuffix(c.Claim.Run, "]")
	}
	return strings.HasPrefix((&atom.Call{Run: c.Claim.Run}).Key(), c.Claim.Run+"/")
}

// reportBegun lets the scheduler know that a run exists, where that ends its unit or is to be reported.
func (c *children) reportBegun(u *scheduler.Unit, id string) {
	if ev, tell := attempts.Begun(u, id); tell {
		c.ends.list = append(c.ends.list, ev)
	}
}

// rejoin resumes the runs that the run waits for, when a process loads the run. If the
// process died after a unit's end was known and before its commit, the unit ends again:
// it waits for no run, or began none.
func (c *children) rejoin() error {
	for u := range c.open.Parents {
		if !u.Awaits() {
			continue
		}
		id, child := c.open.RunOf(u), attempts.ChildOf(u)
		run, err := c.env.Store.Run(c.storing, id)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return c.Wrap(err)
		case err != nil || run.Parent != c.Claim.Run:
			if err := c.spawnAgain(u); err != nil {
				return err
			}
		case child.Detached && u.Node != nil && u.Node.Spec.Token != "":
			// It has begun, and another party has the token.
		case child.Detached:
			ev := u.Ended()
			ev.Result = atom.MustEncode(id)
			c.ends.list = append(c.ends.list, ev)
		case child.Reopen && run.State == states.FlowSuccess: // perhaps it had succeeded before, and no message says so
			c.open.DropRun(id)
			c.succeeded(u, &run)
		case c.env.Runs.Drives(child.Flow):
			c.begun = append(c.begun, childRun{id: id})
		}
	}
	return nil
}

// spawnAgain begins the run of a unit whose begin was committed without the run.
func (c *children) spawnAgain(u *scheduler.Unit) error {
	if u.Node != nil {
		return c.spawn(u, u.Node.Spec.Input)
	}
	in, missing := c.s.Args(u)
	return c.spawnPlanned(u, in, missing)
}

// spawnPlanned begins the run of an atom of the plan with the atom's arguments.
func (c *children) spawnPlanned(u *scheduler.Unit, in atom.Values, missing *atom.Failure) error {
	if missing != nil {
		ev := u.Ended()
		ev.Failure = missing
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // missing is the failure of the atom, not an error of the driver
	}
	input := in.Input()
	if input == nil {
		input = in.Object()
	}
	return c.spawn(u, input)
}

// undoChild undoes a unit by having its run undone. If an undo of that run has failed before, its failed reverts are
// retried. A run in which nothing can be undone has been cancelled by dropChild. The undo only waits for its end: the
// run may depend on what is undone next.
func (c *children) undoChild(u *scheduler.Unit) error {
	id := c.open.RunOf(u)
	c.open.DropRun(id) // a message about an earlier end of the run does not end the undo a second time
	ev := attempts.Undone(u)
	if !u.Reverts() && attempts.ChildOf(u).Detached {
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	run, err := c.env.Store.Run(c.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.ends.list = append(c.ends.list, ev)
		return nil
	case err != nil:
		return c.Wrap(err)
	case !u.Reverts() && run.Parent == c.Claim.Run && run.State.Ended():
		if ev.Untaken, err = c.didNothing(u, &run); err == nil {
			c.ends.list = append(c.ends.list, ev)
		}
		return err
	case run.Parent != c.Claim.Run, // it existed before, and this run did not begin it
		run.State == states.FlowReverted, run.State == states.FlowFailure && run.Undo == storage.UndoNone:
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	command := inbox.Command{
		Kind: inbox.Cancel, Why: inbox.Cancelled("its parent run is being undone"), Undo: u.Reverts(),
	}
	if run.State == states.FlowFailure && run.Undo == storage.UndoFailed {
		command = inbox.Command{Kind: inbox.RetryRevert}
	}
	l, err := command.Message(id)
	if err != nil {
		return err
	}
	c.Draft.Send(l)
	c.open.AwaitRun(id, u)
	if c.env.Runs.Drives(attempts.ChildOf(u).Flow) {
		c.begun = append(c.begun, childRun{id: id})
	}
	return nil
}

// dropChild stops waiting for the run of a unit. It ends that run, unless leave is set. The run is undone as its
// unit would be, unless nothing is undone any longer.
func (c *children) dropChild(u *scheduler.Unit, leave bool) error {
	id := c.open.RunOf(u)
	if c.open.ParentOf(id) != u {
		return nil
	}
	c.open.DropRun(id)
	if leave {
		return nil
	}
	undo := u.Reverts() && !c.s.IsAbandoned()
	if told, err := c.descent.wasTold(id, undo); told || err != nil {
		return err
	}
	l, err := drop(id, undo, false)
	if err != nil {
		return err
	}
	c.descent.dropped = append(c.descent.dropped, told{run: id, undo: undo, sent: true})
	c.Draft.Send(l)
	return nil
}
