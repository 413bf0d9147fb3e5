package driver

import (
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// ChildID returns the id of the run that an attempt of a node begins.
func ChildID(run, path string, attempt int, child *flow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	id := run + "/" + path
	if attempt > 1 {
		id += "@" + strconv.Itoa(attempt)
	}
	return id
}

// children are the runs that a run has begun and waits for, or has undone.
type children struct {
	*run

	mode  *Mode
	att   *attention
	calls *executor.Executor
	byID  map[string]*scheduler.Node // the node that each run belongs to
	begun []childRun                 // to be driven beside this run, once their begin is committed
	group sync.WaitGroup             // of the child runs that are driven

	family family
}

// A family is where a run stands among the runs that create one another.
type family struct {
	parent  string        // id of the run that began this one
	root    string        // see storage.Run
	depth   int64         // see storage.Run
	born    int64         // descendants of the root, as last read
	counted bool          // born was read since the last commit
	barren  *atom.Failure // the limit that keeps the run from creating another one
}

// childOf returns the id of the run that a node's present attempt begins.
func (c *children) childOf(n *scheduler.Node) string {
	return ChildID(c.claim.Run, n.Path, int(n.Rec.Attempt), n.Spec.Child)
}

// spawn begins the run of a node, in the commit that begins the node.
func (c *children) spawn(n *scheduler.Node) error {
	id, child := c.childOf(n), n.Spec.Child
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n}
	_, err := c.env.Store.Run(c.storing, id)
	if err == nil || id == c.claim.Run { // the id may be that of this run, which is not stored yet
		ev.Failure = &atom.Failure{
			Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeRunExists,
			Message: fmt.Sprintf("there is a run %q already", id),
		}
		c.ends.list = append(c.ends.list, ev)
		return nil
	} else if !errors.Is(err, storage.ErrNotFound) {
		return storeError(c.claim.Run, err)
	}
	input := n.Spec.Input
	if child.Input != nil {
		input = child.Input
	}
	run := storage.Run{
		ID: id, Flow: child.Flow, Definition: child.Definition, Labels: child.Labels, Attrs: child.Attributes,
		Trace: c.trace, Input: storage.Held{Data: input}, Created: c.next.Now, Due: c.next.Now,
	}
	if err := c.env.Runs.Unknown(c.storing, &run); err != nil {
		ev.Failure = &atom.Failure{Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeNoFlow, Message: err.Error()}
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // it is the node that fails
	}
	if err := run.Check(); err != nil {
		ev.Failure = &atom.Failure{Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeNoStart, Message: err.Error()}
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // it is the node that fails
	}
	switch f, failed := c.join(&run); {
	case failed != nil:
		return failed
	case f != nil: // the failure of the run comes first, see restrain
		c.family.barren, ev.Failure = f, f
		c.ends.list = append(c.ends.list, ev)
		return nil //nolint:nilerr // it takes failed for set
	}
	c.next.Children = append(c.next.Children, run)
	c.next.Dirty = true
	switch {
	case n.Spec.Report:
		ev.Kind = scheduler.Deferred
		c.ends.list = append(c.ends.list, ev)
	case child.Detached && n.Spec.Token == "":
		ev.Result = atom.MustEncode(id)
		c.ends.list = append(c.ends.list, ev)
	}
	if child.Detached {
		c.note(Event{Path: n.Path, Kind: RunDetached, Name: id})
		return nil
	}
	c.byID[id] = n
	if c.env.Runs.Drives(n.Spec.Child.Flow) {
		c.begun = append(c.begun, childRun{id, &run})
	}
	return nil
}

// choose turns nodes of an answer from child runs into work, if a task does the same in
// place of a run.
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

// rejoin resumes the runs that open nodes wait for, when a process loads the run. If the
// process died after a node's end was known and before its commit, the node ends again:
// it waits for no run, or began none.
func (c *children) rejoin() error {
	for n := range c.s.Open {
		if n.Spec.Kind != flow.Nested || !n.Awaits() {
			continue
		}
		id := c.childOf(n)
		run, err := c.env.Store.Run(c.storing, id)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return storeError(c.claim.Run, err)
		case err != nil || run.Parent != c.claim.Run:
			if err := c.spawn(n); err != nil {
				return err
			}
		case n.Spec.Child.Detached && n.Spec.Token != "": // it has begun, and another party has the token
		case n.Spec.Child.Detached:
			c.ends.list = append(c.ends.list, scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Result: atom.MustEncode(id)})
		case c.env.Runs.Drives(n.Spec.Child.Flow):
			c.begun = append(c.begun, childRun{id: id})
		}
	}
	return nil
}

// undoChild undoes a node by having its run undone.
func (c *children) undoChild(n *scheduler.Node) error {
	id := c.childOf(n)
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Revert: true, Result: atom.Null}
	run, err := c.env.Store.Run(c.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		c.ends.list = append(c.ends.list, ev)
		return nil
	case err != nil:
		return storeError(c.claim.Run, err)
	case run.Parent != c.claim.Run, // it existed before, and this run did not begin it
		run.State == states.FlowReverted, run.State == states.FlowFailure && run.Undo == storage.UndoNone:
		c.ends.list = append(c.ends.list, ev)
		return nil
	}
	l, err := (&inbox.Command{Kind: inbox.Cancel, Why: inbox.Cancelled("the run that began it is undone"), Undo: true}).Message(id)
	if err != nil {
		return err
	}
	c.next.Send(l)
	c.byID[id] = n
	if c.env.Runs.Drives(n.Spec.Child.Flow) {
		c.begun = append(c.begun, childRun{id: id})
	}
	return nil
}

// dropChild stops waiting for the run of a node. It ends that run, unless leave is set.
func (c *children) dropChild(n *scheduler.Node, leave bool) error {
	id := c.childOf(n)
	if c.byID[id] != n {
		return nil
	}
	delete(c.byID, id)
	if leave {
		return nil
	}
	why := inbox.Cancelled("the run that began it no longer waits for it")
	l, err := (&inbox.Command{Kind: inbox.Cancel, Why: why, Undo: n.Spec.Undo != nil}).Message(id)
	if err != nil {
		return err
	}
	c.next.Send(l)
	return nil
}

// tellParent tells the run that began this one how it ended.
func (c *children) tellParent() {
	if c.family.parent == "" {
		return
	}
	l := storage.Message{Run: c.family.parent, Kind: messageChild, Name: c.claim.Run, Body: c.next.Head.Output.Data}
	if c.next.Head.Outcome != storage.Succeeded {
		l.Failure = c.next.Head.Failure
		if l.Failure == nil {
			l.Failure = &atom.Failure{Code: atom.CodeCancelled}
		}
	}
	c.next.Send(l)
}

// A childRun is a run to be driven beside the run that began it.
type childRun struct {
	id   string
	made *storage.Run // as the last commit created it; nil when the run was there before
}

// driveChildRuns drives the runs that this run has begun, or wants undone, as long
// as the process drives this run and no other process drives them. If the store
// fails one of them, this run stops too, because it would wait in vain.
func (c *children) driveChildRuns() {
	if len(c.begun) == 0 {
		return
	}
	childRuns := c.begun
	c.begun = nil
	for _, f := range childRuns {
		c.group.Go(func() {
			s := &Slot{Places: c.mode.Places}
			if !s.take(c.calls.Context()) {
				return
			}
			defer s.leave()
			err := c.env.Runs.DriveChild(c.calls.Context(), f.id, f.made, s)
			if store, broken := errors.AsType[*StoreError](err); broken { // no process is left to drive it
				c.att.Broken(store)
			} else if err != nil {
				c.env.Log.Debug("a run that was begun by another rests", "run", f.id, "error", err)
			}
		})
	}
}
