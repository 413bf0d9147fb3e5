package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// Another party may end an atom: the party that has its token, or its child run. The atom is then RUNNING, its end
// mark is flow.EndDeferred, and only its record is kept.

// awaited reports whether another party, not a call, completed the atom.
func (s *Scheduler) awaited(ev *Event) bool {
	switch {
	case ev.Revert && ev.Node != nil:
		return ev.Node.external
	case ev.Revert:
		return s.inFlight.undone[ev.Atom]
	case ev.Node != nil:
		return ev.Node.Awaits()
	}
	return s.rec[ev.Atom].Awaits()
}

// revertDeferred records that another party ends a revert. This is not stored: a process that resumes the run
// starts the revert again and finds the existing token.
func (s *Scheduler) revertDeferred(ev *Event) {
	s.inFlight.busy--
	s.inFlight.reverting++
	if n := ev.Node; n != nil {
		s.waitExternal(n)
		return
	}
	s.inFlight.waits++
	if s.inFlight.undone == nil {
		s.inFlight.undone = map[int32]bool{}
	}
	s.inFlight.undone[ev.Atom] = true
}

// revertAwaited records that such a revert has ended, or is no longer awaited.
func (s *Scheduler) revertAwaited(a int32, n *Node) {
	s.inFlight.reverting--
	if n != nil {
		s.unwaitExternal(n)
		return
	}
	s.inFlight.waits--
	delete(s.inFlight.undone, a)
}

// voidRevert makes the token of a revert void.
func (s *Scheduler) voidRevert(a int32) {
	if s.inFlight.undone[a] {
		s.revertAwaited(a, nil)
		s.emit(Command{Op: Void, Atom: a})
	}
}

// late reports whether the execution of a node has ended before: the answer that started its child run also dropped
// the node, or ended the flow.
func (ev *Event) late() bool {
	n := ev.Node
	return n != nil && !ev.Revert && !n.executing && !n.Awaits() && (!ev.ByToken || !n.interrupted())
}

// Interrupted reports whether the process died that made the call of an atom or node, and the call was not made again
// yet.
func (s *Scheduler) Interrupted(n *Node, a int32) bool {
	switch {
	case n != nil:
		return n.interrupted()
	case a < 0 || s.root != nil:
		return false
	}
	r := &s.rec[a]
	return r.State == states.TaskRunning && !r.Awaits() && slices.Contains(s.readySet.redo, a)
}

func (n *Node) interrupted() bool {
	return n.called() && n.Rec.State == states.TaskRunning && !n.executing && !n.Awaits()
}

// Awaits reports whether another party ends the atom.
func (r *Record) Awaits() bool { return r.State == states.TaskRunning && r.Ended == flow.EndDeferred }

// Awaits reports whether another party ends the node.
func (n *Node) Awaits() bool { return n.Rec.Awaits() }

// Executes reports whether the call of the node, or of its undo, has not ended.
func (n *Node) Executes() bool { return n.executing }

// deferred records that the call of an atom has ended, but not the atom.
func (s *Scheduler) deferred(ev Event) {
	if ev.Revert {
		s.revertDeferred(&ev)
		return
	}
	if ev.late() {
		return
	}
	if n := ev.Node; n != nil && n.Awaits() { // its child run exists
		s.reportCall(n)
		return
	}
	s.inFlight.busy--
	if n := ev.Node; n != nil {
		n.executing = false
		s.waitExternal(n)
		n.Rec.Ended = flow.EndDeferred
		if ev.Reports() && !n.stopped {
			n.Rec.Result = ev.Result
			if ev.Result == nil {
				n.Rec.Result = atom.Null
			}
		}
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
		if n.stopped {
			s.stopNode(n)
			s.left(n.Scope)
			return
		}
		s.reportCall(n)
		return
	}
	s.inFlight.waits++
	r := &s.rec[ev.Atom]
	r.Ended = flow.EndDeferred
	s.emit(Command{Op: Write, Atom: ev.Atom, Rec: *r})
	if r.Intention != states.IntendExecute || s.isEnding() {
		s.void(ev.Atom)
	}
}

// Reports reports whether the language is told that a call has ended without ending its node.
func (ev *Event) Reports() bool {
	return ev.Kind == Deferred && ev.Node != nil && (ev.Node.Spec.Report || ev.Node.Spec.Ends && ev.Result != nil)
}

// reportCall asks the language about a node whose task has returned and which another party will end. Until the
// language answers, the record of the node contains the task's return value as its result.
func (s *Scheduler) reportCall(n *Node) {
	if n.Rec.Result != nil {
		s.queueAsk(n.Scope, n, flow.Cause{
			Kind: flow.Called, Name: n.Spec.Name, Note: n.Spec.Note, Attempt: int(n.Rec.Attempt), Result: n.Rec.Result,
			Run: n.Spec.Kind == flow.Nested,
		})
	}
}

// noted stores the note of a language for a node that continues.
func (s *Scheduler) noted(n *Node, kind flow.CauseKind, note atom.Value) {
	if note == nil && kind != flow.Called {
		return
	}
	if kind == flow.Called && n.Rec.State == states.TaskRunning { // otherwise it has ended before the answer
		n.Rec.Result = nil
	}
	if note != nil {
		n.Spec.Note = note
	}
	s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
}

// void gives up the atom's attempt if another party ends it.
func (s *Scheduler) void(a int32) {
	switch {
	case !s.rec[a].Awaits():
	case s.plan.Atoms[a].Run != nil: // the end of a child run is in its record
		s.voidAwaited(a)
	default:
		s.withdraw(nil, a)
	}
}

func (s *Scheduler) voidAwaited(a int32) {
	r := &s.rec[a]
	s.inFlight.waits--
	s.emit(Command{Op: Void, Atom: a})
	s.set(a, states.TaskCancelled, r.Intention)
}

// awaitExternal starts an atom that makes no call and is ended by a signal, or by the run that it
// begins: begin says which.
func (s *Scheduler) awaitExternal(a int32, begin *Command) {
	r := &s.rec[a]
	if r.State != states.TaskRunning {
		r.Attempt++
	}
	r.Ended = flow.EndDeferred
	s.inFlight.waits++
	// First, because the time limit of the wait, and the child run, must exist when the wait starts.
	begin.Rec = *r
	s.emit(*begin)
	if r.State == states.TaskRunning {
		s.emit(Command{Op: Write, Atom: a, Rec: *r})
		return
	}
	s.set(a, states.TaskRunning, r.Intention)
}

// awaitNode starts a node that makes no call.
func (s *Scheduler) awaitNode(n *Node) {
	n.Rec.Attempt++
	n.Rec.Ended, n.Rec.Result, n.byToken = flow.EndDeferred, nil, false
	if n.Spec.Kind == flow.Nested && n.Spec.Report { // the language is told that the child run exists
		n.Rec.Result = atom.Null
	}
	n.Rec.clearDue()
	s.setNode(n, states.TaskRunning)
	s.waitExternal(n)
	op := Await
	if n.Spec.Kind == flow.Nested {
		op = Spawn
	}
	s.emit(Command{Op: op, Atom: -1, Node: n, Rec: n.Rec})
}

func (s *Scheduler) waitExternal(n *Node) {
	if !n.external {
		n.external = true
		s.inFlight.waits++
	}
}

func (s *Scheduler) unwaitExternal(n *Node) {
	if n.external {
		n.external = false
		s.inFlight.waits--
	}
}

// called reports whether a node's attempt starts with the call of a task.
func (n *Node) called() bool {
	return n.Spec.Kind == flow.Work && (n.Spec.Task != "" || n.Spec.Token == "")
}
