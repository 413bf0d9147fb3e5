package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// Another party may end an atom: the party that has its token, or its child run. The atom is then RUNNING, its end
// mark is grow.EndDeferred, and only its record is kept.

// revertDeferred records that another party ends a revert. This is not stored: a process that resumes the run
// starts the revert again and finds the existing token.
func (s *Scheduler) revertDeferred(ev *Event) {
	s.inFlight.busy--
	s.inFlight.reverting++
	s.waitExternal(ev.Unit)
}

// revertAwaited records that such a revert has ended, or is no longer awaited.
func (s *Scheduler) revertAwaited(u *Unit) {
	s.inFlight.reverting--
	s.unwaitExternal(u)
}

// voidRevert makes the token of a revert void.
func (s *Scheduler) voidRevert(u *Unit) {
	if u.external {
		s.revertAwaited(u)
		s.emit(Command{Op: Void, Unit: u})
	}
}

// late reports whether the execution of a node has ended before: the answer that started its child run also dropped
// the node, or ended the flow.
func (ev *Event) late() bool {
	u := ev.Unit
	return u.Node != nil && !ev.Revert && !u.executing && !u.Awaits() && (!ev.ByToken || !u.Interrupted())
}

// Awaits reports whether another party ends the atom.
func (r *Record) Awaits() bool { return r.State == states.TaskRunning && r.Ended == grow.EndDeferred }

// deferred records that the call of an atom has ended, but not the atom.
func (s *Scheduler) deferred(ev Event) {
	if ev.Revert {
		s.revertDeferred(&ev)
		return
	}
	if ev.late() {
		return
	}
	u, n := ev.Unit, ev.Unit.Node
	if n != nil && n.Awaits() { // its child run exists
		s.reportCall(n)
		return
	}
	s.inFlight.busy--
	u.executing, u.Rec.Ended = false, grow.EndDeferred
	s.waitExternal(u)
	if ev.Reports() && !n.stopped {
		u.Rec.Result = ev.Result
		if ev.Result == nil {
			u.Rec.Result = atom.Null
		}
	}
	s.write(u)
	switch {
	case n == nil:
		if u.Rec.Intention != states.IntendExecute || s.isEnding() {
			s.void(u)
		}
	case n.stopped:
		s.stopNode(n)
		s.left(n.Scope)
	default:
		s.reportCall(n)
	}
}

// Reports reports whether the language is told that a call has ended without ending its node.
func (ev *Event) Reports() bool {
	n := ev.Unit.Grown()
	return ev.Kind == Deferred && n != nil && (n.Spec.Report || n.Spec.Ends && ev.Result != nil)
}

// reportCall asks the language about a node whose task has returned and which another party will end. Until the
// language answers, the record of the node contains the task's return value as its result.
func (s *Scheduler) reportCall(n *Node) {
	if n.Rec.Result != nil {
		s.queueAsk(n.Scope, n, grow.Cause{
			Kind: grow.Called, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt), Result: n.Rec.Result,
			Run: n.Spec.Kind == grow.Nested,
		})
	}
}

// noted stores the note of a language for a node that continues.
func (s *Scheduler) noted(n *Node, kind grow.CauseKind, note atom.Value) {
	if note == nil && kind != grow.Called {
		return
	}
	if kind == grow.Called && n.Rec.State == states.TaskRunning { // otherwise it has ended before the answer
		n.Rec.Result = nil
	}
	if note != nil {
		n.Spec.Note = note
	}
	s.write(&n.Unit)
}

// void gives up the attempt of an atom of the plan if another party ends it.
func (s *Scheduler) void(u *Unit) {
	switch {
	case !u.Awaits():
	case u.BeginsRun(): // the end of a child run is in its record
		s.voidAwaited(u)
	default:
		s.withdraw(u)
	}
}

func (s *Scheduler) voidAwaited(u *Unit) {
	s.unwaitExternal(u)
	s.emit(Command{Op: Void, Unit: u})
	s.set(u, states.TaskCancelled, u.Rec.Intention)
}

// awaitExternal starts an atom of the plan that makes no call and is ended by a signal, or by the run that it
// begins: begin says which.
func (s *Scheduler) awaitExternal(begin *Command) {
	u := begin.Unit
	r := &u.Rec
	if r.State != states.TaskRunning {
		r.Attempt++
	}
	r.Ended = grow.EndDeferred
	s.waitExternal(u)
	// First, because the time limit of the wait, and the child run, must exist when the wait starts.
	begin.Rec = *r
	s.emit(*begin)
	if r.State == states.TaskRunning {
		s.write(u)
		return
	}
	s.set(u, states.TaskRunning, r.Intention)
}

// awaitNode starts a node that makes no call.
func (s *Scheduler) awaitNode(n *Node) {
	n.Rec.Attempt++
	n.Rec.Ended, n.Rec.Result, n.byToken = grow.EndDeferred, nil, false
	if n.Spec.Kind == grow.Nested && n.Spec.Report { // the language is told that the child run exists
		n.Rec.Result = atom.Null
	}
	n.Rec.clearDue()
	s.setNode(n, states.TaskRunning)
	s.waitExternal(&n.Unit)
	op := Await
	if n.Spec.Kind == grow.Nested {
		op = Spawn
	}
	s.emit(Command{Op: op, Unit: &n.Unit, Rec: n.Rec})
}

func (s *Scheduler) waitExternal(u *Unit) {
	if !u.external {
		u.external = true
		s.inFlight.waits++
	}
}

func (s *Scheduler) unwaitExternal(u *Unit) {
	if u.external {
		u.external = false
		s.inFlight.waits--
	}
}
