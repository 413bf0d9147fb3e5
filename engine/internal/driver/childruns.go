package driver

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
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

// childOf returns the id of the run that a node's present attempt begins.
func (d *Driver) childOf(n *scheduler.Node) string {
	return ChildID(d.claim.Run, n.Path, int(n.Rec.Attempt), n.Spec.Child)
}

// spawn begins the run of a node, in the commit that begins the node.
func (d *Driver) spawn(n *scheduler.Node) error {
	id, child := d.childOf(n), n.Spec.Child
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n}
	_, err := d.env.Store.Run(d.storing, id)
	if err == nil || id == d.claim.Run { // which may be about to be made
		ev.Failure = &atom.Failure{
			Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeRunExists,
			Message: fmt.Sprintf("there is a run %q already", id),
		}
		d.ended = append(d.ended, ev)
		return nil
	} else if !errors.Is(err, storage.ErrNotFound) {
		return storeError(d.claim.Run, err)
	}
	input := n.Spec.Input
	if child.Input != nil {
		input = child.Input
	}
	run := storage.Run{
		ID: id, Flow: child.Flow, Definition: child.Definition, Labels: child.Labels, Attrs: child.Attributes,
		Trace: d.trace, Input: storage.Held{Data: input}, Created: d.next.Now, Due: d.next.Now,
	}
	if err := d.env.Runs.Unknown(d.storing, &run); err != nil {
		ev.Failure = &atom.Failure{Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeNoFlow, Message: err.Error()}
		d.ended = append(d.ended, ev)
		return nil
	}
	if err := run.Check(); err != nil {
		ev.Failure = &atom.Failure{Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeNoStart, Message: err.Error()}
		d.ended = append(d.ended, ev)
		return nil //nolint:nilerr // it is the node that fails
	}
	switch f, failed := d.join(&run); {
	case failed != nil:
		return failed
	case f != nil: // the failure of the run comes first, see restrain
		d.barren, ev.Failure = f, f
		d.ended = append(d.ended, ev)
		return nil //nolint:nilerr // it takes failed for set
	}
	d.next.Children = append(d.next.Children, run)
	d.next.Dirty = true
	switch {
	case n.Spec.Report:
		ev.Kind = scheduler.Deferred
		d.ended = append(d.ended, ev)
	case child.Detached && n.Spec.Token == "":
		ev.Result = atom.MustEncode(id)
		d.ended = append(d.ended, ev)
	}
	if child.Detached {
		d.note(Event{Path: n.Path, Kind: RunDetached, Name: id})
		return nil
	}
	d.children[id] = n
	if d.env.Runs.Drives(n.Spec.Child.Flow) {
		d.childRuns = append(d.childRuns, childRun{id, &run})
	}
	return nil
}

// choose makes work of the nodes of an answer for which there is a task that does it
// in place of a run.
func (d *Driver) choose(scope *scheduler.Scope, growth *flow.Growth) {
	chooser, ok := d.env.Tasks.(Chooser)
	if !ok {
		return
	}
	for i := range growth.Add {
		if s := &growth.Add[i]; s.Kind == flow.Nested && s.Task != "" && chooser.Instead(s.Task, scope.Inside(s.Name)) {
			s.Kind, s.Child = flow.Work, nil
		}
	}
}

// rejoin goes on with the runs that open nodes wait for, when the run is taken
// up. A node whose end was known when the process died, but not committed, has it
// again: it waits for no run, or began none.
func (d *Driver) rejoin() error {
	for n := range d.s.Open {
		if n.Spec.Kind != flow.Nested || !n.Awaits() {
			continue
		}
		id := d.childOf(n)
		run, err := d.env.Store.Run(d.storing, id)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return storeError(d.claim.Run, err)
		case err != nil || run.Parent != d.claim.Run:
			if err := d.spawn(n); err != nil {
				return err
			}
		case n.Spec.Child.Detached && n.Spec.Token != "": // it has begun, and another party has the token
		case n.Spec.Child.Detached:
			d.ended = append(d.ended, scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Result: atom.MustEncode(id)})
		case d.env.Runs.Drives(n.Spec.Child.Flow):
			d.childRuns = append(d.childRuns, childRun{id: id})
		}
	}
	return nil
}

// childEnded ends the node whose run has ended, or the undoing of it.
func (d *Driver) childEnded(l *storage.Message) error {
	n := d.children[l.Name]
	d.next.Take(l.N)
	if n == nil {
		return nil
	}
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Result: l.Body, Failure: l.Failure}
	switch {
	case n.Rec.State == states.TaskReverting:
		delete(d.children, l.Name)
		run, err := d.env.Store.Run(d.storing, l.Name)
		if err != nil {
			return storeError(d.claim.Run, err)
		}
		ev.Revert, ev.Result, ev.Failure = true, atom.Null, nil
		if run.Undo == storage.UndoFailed {
			ev.Failure = &atom.Failure{Atom: n.Path, Code: atom.CodeRevertFailed, Message: fmt.Sprintf("the run %q could not be undone", l.Name)}
		}
		return d.feed(ev)
	case n.Awaits():
		if n.Spec.Report && n.Rec.Result != nil { // that its run is there is still to be told
			if err := d.feed(scheduler.Event{Kind: scheduler.Deferred, Atom: -1, Node: n}); err != nil || d.children[l.Name] != n || !n.Awaits() {
				return err
			}
		}
		delete(d.children, l.Name)
		d.closeToken(n.Path, false)
		return d.feed(ev)
	default:
		return nil
	}
}

// undoChild undoes what a node did by letting its run be undone.
func (d *Driver) undoChild(n *scheduler.Node) error {
	id := d.childOf(n)
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Revert: true, Result: atom.Null}
	run, err := d.env.Store.Run(d.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		d.ended = append(d.ended, ev)
		return nil
	case err != nil:
		return storeError(d.claim.Run, err)
	case run.Parent != d.claim.Run, // it was there before, and is none of ours
		run.State == states.FlowReverted, run.State == states.FlowFailure && run.Undo == storage.UndoNone:
		d.ended = append(d.ended, ev)
		return nil
	}
	l, err := (&inbox.Command{Kind: inbox.Cancel, Why: inbox.Cancelled("the run that began it is undone"), Undo: true}).Message(id)
	if err != nil {
		return err
	}
	d.next.Send(l)
	d.children[id] = n
	if d.env.Runs.Drives(n.Spec.Child.Flow) {
		d.childRuns = append(d.childRuns, childRun{id: id})
	}
	return nil
}

// dropChild no longer waits for the run of a node. The run ends, unless it is to
// be left alone.
func (d *Driver) dropChild(n *scheduler.Node, leave bool) error {
	id := d.childOf(n)
	if d.children[id] != n {
		return nil
	}
	delete(d.children, id)
	if leave {
		return nil
	}
	why := inbox.Cancelled("the run that began it no longer waits for it")
	l, err := (&inbox.Command{Kind: inbox.Cancel, Why: why, Undo: n.Spec.Undo != nil}).Message(id)
	if err != nil {
		return err
	}
	d.next.Send(l)
	return nil
}

// tellParent tells the run that began this one how it ended.
func (d *Driver) tellParent() {
	if d.parent == "" {
		return
	}
	l := storage.Message{Run: d.parent, Kind: messageChild, Name: d.claim.Run, Body: d.next.Head.Output.Data}
	if d.next.Head.Outcome != storage.Succeeded {
		l.Failure = d.next.Head.Failure
		if l.Failure == nil {
			l.Failure = &atom.Failure{Code: atom.CodeCancelled}
		}
	}
	d.next.Send(l)
}

// A childRun is a run to be driven beside the run that began it.
type childRun struct {
	id   string
	made *storage.Run // as the last commit created it; nil when the run was there before
}

// driveChildRuns drives the runs that this run has begun, or wants undone, as long
// as the process drives this run and no other process drives them. If the store
// fails one of them, this run stops too, because it would wait in vain.
func (d *Driver) driveChildRuns() {
	if len(d.childRuns) == 0 {
		return
	}
	childRuns := d.childRuns
	d.childRuns = nil
	for _, f := range childRuns {
		d.childSlots.Go(func() {
			s := &Slot{Places: d.Mode.Places}
			if !s.take(d.calls.Context()) {
				return
			}
			defer s.leave()
			err := d.env.Runs.DriveChild(d.calls.Context(), f.id, f.made, s)
			if store, broken := errors.AsType[*StoreError](err); broken { // no process is left to drive it
				d.Broken(store)
			} else if err != nil {
				d.env.Log.Debug("a run that was begun by another rests", "run", f.id, "error", err)
			}
		})
	}
}
