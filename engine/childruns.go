package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// childOf returns the id of the run that a node's present attempt begins.
func (d *driver) childOf(n *scheduler.Node) string {
	return childID(d.claim.Run, n.Path, int(n.Rec.Attempt), n.Spec.Child)
}

// spawn begins the run of a node, in the commit that begins the node.
func (d *driver) spawn(n *scheduler.Node) error {
	id, child := d.childOf(n), n.Spec.Child
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n}
	_, err := d.e.store.Run(d.storing, id)
	if err == nil || id == d.claim.Run { // which may be about to be made
		ev.Failure = &atom.Failure{
			Atom: n.Path, Attempt: int(n.Rec.Attempt), Code: atom.CodeRunExists,
			Message: fmt.Sprintf("there is a run %q already", id),
		}
		d.ended = append(d.ended, ev)
		return nil
	} else if !errors.Is(err, storage.ErrNotFound) {
		return d.storeError(err)
	}
	input := n.Spec.Input
	if child.Input != nil {
		input = child.Input
	}
	run := storage.Run{
		ID: id, Flow: child.Flow, Definition: child.Definition, Labels: child.Labels, Attrs: child.Attributes,
		Trace: d.trace, Input: storage.Held{Data: input}, Created: d.next.Now, Due: d.next.Now,
	}
	if _, _, err := d.e.planFor(d.storing, &run, nil); d.e.catalog != nil && errors.Is(err, storage.ErrNotFound) {
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
	if d.e.knows(n) {
		d.childRuns = append(d.childRuns, childRun{id, &run})
	}
	return nil
}

// A Chooser is [Tasks] that may do by a task what a language would have a run of its
// own do, see [flow.Spec]: because the user has given one, or a mock.
type Chooser interface {
	// Instead reports whether the task of that name does what the node at path is
	// to do.
	Instead(task, path string) bool
}

// choose makes work of the nodes of an answer for which there is a task that does it
// in place of a run.
func (d *driver) choose(scope *scheduler.Scope, growth *flow.Growth) {
	chooser, ok := d.e.tasks.(Chooser)
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
func (d *driver) rejoin() error {
	for n := range d.s.Open {
		if n.Spec.Kind != flow.Nested || !n.Awaits() {
			continue
		}
		id := d.childOf(n)
		run, err := d.e.store.Run(d.storing, id)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return d.storeError(err)
		case err != nil || run.Parent != d.claim.Run:
			if err := d.spawn(n); err != nil {
				return err
			}
		case n.Spec.Child.Detached && n.Spec.Token != "": // it has begun, and another party has the token
		case n.Spec.Child.Detached:
			d.ended = append(d.ended, scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Result: atom.MustEncode(id)})
		case d.e.knows(n):
			d.childRuns = append(d.childRuns, childRun{id: id})
		}
	}
	return nil
}

// childEnded ends the node whose run has ended, or the undoing of it.
func (d *driver) childEnded(l *storage.Message) error {
	n := d.children[l.Name]
	d.next.Take(l.N)
	if n == nil {
		return nil
	}
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Result: l.Body, Failure: l.Failure}
	switch {
	case n.Rec.State == states.TaskReverting:
		delete(d.children, l.Name)
		run, err := d.e.store.Run(d.storing, l.Name)
		if err != nil {
			return d.storeError(err)
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
func (d *driver) undoChild(n *scheduler.Node) error {
	id := d.childOf(n)
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: -1, Node: n, Revert: true, Result: atom.Null}
	run, err := d.e.store.Run(d.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		d.ended = append(d.ended, ev)
		return nil
	case err != nil:
		return d.storeError(err)
	case run.Parent != d.claim.Run, // it was there before, and is none of ours
		run.State == states.FlowReverted, run.State == states.FlowFailure && run.Undo == storage.UndoNone:
		d.ended = append(d.ended, ev)
		return nil
	}
	o := Cancel("the run that began it is undone")
	l, err := o.message(id)
	if err != nil {
		return err
	}
	d.next.Send(l)
	d.children[id] = n
	if d.e.knows(n) {
		d.childRuns = append(d.childRuns, childRun{id: id})
	}
	return nil
}

// dropChild no longer waits for the run of a node. The run ends, unless it is to
// be left alone.
func (d *driver) dropChild(n *scheduler.Node, leave bool) error {
	id := d.childOf(n)
	if d.children[id] != n {
		return nil
	}
	delete(d.children, id)
	if leave {
		return nil
	}
	why := cancelled("the run that began it no longer waits for it")
	l, err := (&Command{kind: messageCancel, why: why, body: commandBody{Undo: n.Spec.Undo != nil}}).message(id)
	if err != nil {
		return err
	}
	d.next.Send(l)
	return nil
}

// tellParent tells the run that began this one how it ended.
func (d *driver) tellParent() {
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
func (d *driver) driveChildRuns() {
	if len(d.childRuns) == 0 {
		return
	}
	childRuns := d.childRuns
	d.childRuns = nil
	for _, f := range childRuns {
		d.childSlots.Go(func() {
			s := &slot{free: d.places}
			if !s.take(d.calls.Context()) {
				return
			}
			defer s.leave()
			err := d.e.driveChildRun(d.calls.Context(), &f, s)
			if store, broken := errors.AsType[*StoreError](err); broken { // no process is left to drive it
				d.Broken(store)
			} else if err != nil {
				d.e.log.Debug("a run that was begun by another rests", "run", f.id, "error", err)
			}
		})
	}
}

// driveChildRun drives a run in a slot. If the run was just created, its claim begins with
// its first commit, and nothing of the run is read: both halve the cost of a short run.
// The store refuses that commit if the run is not as it was created any more.
func (e *Engine) driveChildRun(ctx context.Context, f *childRun, s *slot) error {
	if f.made != nil {
		d, snap, err := e.takenOver(ctx, f.id, nil, func() (storage.Claim, *storage.Snapshot, error) {
			claim, snap, err := storage.ClaimNew(*f.made)
			claim.New = nil
			return claim, snap, err
		})
		if err != nil {
			return err
		}
		d.slot = s
		_, err = e.finish(ctx, d, snap, toGoOn, nil)
		if d.owns() || !errors.Is(err, storage.ErrFenced) && !errors.Is(err, storage.ErrLimited) {
			return err
		}
	}
	_, err := e.Run(ctx, f.id, s)
	return err
}

// knows reports whether the engine can drive the run of a node.
func (e *Engine) knows(n *scheduler.Node) bool {
	return e.catalog != nil || e.has(n.Spec.Child.Flow)
}

// A slot is one of the places for runs that are driven beside those that have begun
// them. A run takes it as long as it does something, and leaves it while it only
// waits; so one that waits for runs of its own never keeps these from being driven.
type slot struct {
	free chan struct{}
	held bool
}

// begin implements [RunOption].
func (*slot) begin(*beginning) error { return nil }

// take waits for the place. It reports false when ctx ends first.
func (s *slot) take(ctx context.Context) bool {
	select {
	case s.free <- struct{}{}:
		s.held = true
	case <-ctx.Done():
	}
	return s.held
}

func (s *slot) leave() {
	if s.held {
		s.held = false
		<-s.free
	}
}
