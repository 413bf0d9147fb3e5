package driver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// childID returns the id of the run that an attempt of a node starts. Attempts are counted from 1 again in each
// incarnation.
func childID(run, path string, incarnation, attempt int, child *flow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(attempt)
	}
	if incarnation > 0 {
		id += "." + strconv.Itoa(incarnation+1)
	}
	return id
}

// plannedChildID returns the id of the run that an attempt of an atom of a plan starts. Attempts are counted from 1
// again in each incarnation.
func plannedChildID(run, path string, incarnation, attempt int) string {
	id := run + "/" + path
	if incarnation > 0 || attempt > 1 {
		id += "@" + strconv.Itoa(incarnation+1)
	}
	if attempt > 1 {
		id += "." + strconv.Itoa(attempt)
	}
	return id
}

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

	family family
}

// A family is the position of a run among the runs that create one another.
type family struct {
	parent  string        // id of the parent run
	root    string        // see storage.Run
	depth   int64         // see storage.Run
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
		ev.Failure = &atom.Failure{Atom: c.pathOf(o), Attempt: int(c.recordOf(o).Attempt), Code: code, Message: why}
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
	run, failed, err := newRuns{c.run}.prepare(id, child, input)
	if err != nil {
		return err
	}
	if failed == nil && child.Key != "" {
		if failed, err = (newRuns{c.run}).keyTaken(child.Key); err != nil {
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

// choose replaces child runs in an answer by tasks, if a task stands in for the run.
func (q *asker) choose(scope *scheduler.Scope, growth *flow.Growth) {
	chooser, ok := q.env.Tasks.(Chooser)
	if !ok {
		return
	}
	for i := range growth.Add {
		if s := &growth.Add[i]; s.Kind == flow.Nested && s.Task != "" && chooser.Instead(s.Task, scope.Inside(s.Name)) {
			s.Kind, s.Child = flow.Work, nil
		}
	}
}

// runEnds is what a run is told about the outcome of its child run.
var runEnds = [...]flow.RunEnd{
	storage.Unfinished: flow.RunOpen, storage.Succeeded: flow.RunSucceeded, storage.FailedOutcome: flow.RunFailed,
	storage.TimedOut: flow.RunTimedOut, storage.Cancelled: flow.RunCancelled, storage.Continued: flow.RunOpen,
}

// runEnd returns how a child run ended, from its message. Messages of earlier versions of Ebb do not say it.
func runEnd(l *storage.Message) (end flow.RunEnd) {
	if err := l.Note.Decode(&end); err == nil && end > flow.RunOpen && end <= flow.RunCancelled {
		return end
	}
	if l.Failure != nil {
		return flow.RunFailed
	}
	return flow.RunSucceeded
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
	ev := o.completed()
	ev.Revert, ev.Result = true, atom.Null
	if !c.undoes(o) && (o.node != nil || c.childOf(o).Detached) {
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

// dropChild stops waiting for the run of an origin. It ends that run, unless leave is set.
func (c *children) dropChild(o origin, leave bool) error {
	id := c.idOf(o)
	if c.byID[id] != o {
		return nil
	}
	delete(c.byID, id)
	if leave {
		return nil
	}
	why := inbox.Cancelled("its parent run no longer waits for it")
	l, err := (&inbox.Command{Kind: inbox.Cancel, Why: why, Undo: c.undoes(o)}).Message(id)
	if err != nil {
		return err
	}
	c.next.Send(l)
	return nil
}

// checkResult makes an atom of the plan fail if the output of its run cannot be its result.
func (c *children) checkResult(o origin, ev *scheduler.Event) {
	if ev.Failure != nil {
		return
	}
	if ev.Result == nil {
		ev.Result = atom.Null
	}
	if err := c.plan.Atoms[o.atom].CheckResult(ev.Result); err != nil {
		ev.Result, ev.Failure = nil, &atom.Failure{
			Atom: c.pathOf(o), Attempt: int(c.recordOf(o).Attempt), Code: atom.CodeBadResult,
			Message: clip.Text("the output of the run is no result of the atom: "+err.Error(), atom.MaxFailureText),
		}
	}
}

// within makes the failure of a child run name the atom by its path in this run, which begins with that of the node.
func (c *children) within(o origin, ev *scheduler.Event) {
	if ev.Failure == nil {
		return
	}
	f := *ev.Failure
	if f.Atom != "" {
		f.Atom = "/" + f.Atom
	}
	f.Atom = c.pathOf(o) + f.Atom
	ev.Failure = &f
}

// outputs returns the results of a plan's run for the parent run: an object of its symbols.
func (c *children) outputs() atom.Value {
	symbols := slices.Sorted(c.plan.Symbols)
	args, vals := make([]atom.Arg, len(symbols)), make([]atom.Value, len(symbols))
	for i, symbol := range symbols {
		args[i].Name = symbol
		if v, ok := c.s.Final(symbol); ok {
			vals[i] = v
		}
	}
	return atom.NewValues(args, vals).Object()
}

// tellParent sends the parent run a message about the end of this run.
func (c *children) tellParent() {
	if c.family.parent == "" {
		return
	}
	l := storage.Message{Run: c.family.parent, Kind: messageChild, Name: c.claim.Run, Body: c.next.Head.Output.Data}
	if c.next.Head.Outcome == storage.Continued { // the parent now waits for the successor
		l.Kind = messageContinued
		c.next.Send(l)
		return
	}
	l.Note = atom.MustEncode(runEnds[c.next.Head.Outcome])
	switch {
	case c.next.Head.Outcome != storage.Succeeded:
		l.Failure = c.next.Head.Failure
		if l.Failure == nil {
			l.Failure = &atom.Failure{Code: atom.CodeCancelled}
		}
	case len(l.Body) > atom.MaxValue:
		l.Body = nil
		l.Failure = atom.NewFailure("", 0, atom.ErrValueTooLarge)
	}
	c.next.Send(l)
}

// A childRun is a run to be driven beside its parent.
type childRun struct {
	id   string
	made *storage.Run // as the last commit created it; nil if the run existed before
}

// driveChildRuns drives the child runs of this run, as long as the process drives this run and no other process
// drives them. If the store fails one of them, this run also stops, because it would wait for ever. If this run is
// released when it only waits, so are its child runs, and this run stays until the last of them rests or only waits.
func (c *children) driveChildRuns() {
	if len(c.begun) == 0 {
		return
	}
	childRuns := c.begun
	if c.begun = nil; c.mode.Answer { // they are due
		return
	}
	c.busy.Add(int64(len(childRuns)))
	for _, f := range childRuns {
		c.group.Go(func() {
			defer func() {
				if c.busy.Add(-1) == 0 {
					c.att.Notify() // the message about its end comes before this run is released
				}
			}()
			s := &Slot{Places: c.mode.Places}
			if !s.take(c.calls.Context()) {
				return
			}
			defer s.leave()
			m := Mode{Slot: s, Places: s.Places, Unload: c.mode.Unload, Quiet: c.mode.Quiet}
			err := c.env.Runs.DriveChild(c.calls.Context(), f.id, f.made, m)
			if store, broken := errors.AsType[*StoreError](err); broken { // no process drives the child run now
				c.att.Broken(store)
			} else if err != nil {
				c.env.Log.Debug(logevent.RunChildStopped, "run", f.id, "error", err)
			}
		})
	}
}
