package scheduler

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// beginUnwinding undoes a growing flow, from the top of its stack.
func (s *Scheduler) beginUnwinding() {
	s.undoStack.holes = nil
	s.unwindNext()
}

func (s *Scheduler) unwindNext() {
	if s.undoStack.height == 0 {
		s.endUnwinding()
		return
	}
	if s.flow == states.FlowRunning && len(s.failing.fatal) == 0 && !s.stopReason.halted && !s.stopReason.parked {
		s.growth.asked = true
		s.emit(Command{Op: AskUndo, Detail: &Detail{}})
	}
}

// leftOnStack reports whether the growing flow was undone, but not completely.
func (s *Scheduler) leftOnStack() bool {
	return s.root != nil && s.root.Rec.State == states.TaskReverted && s.undoStack.height > 0
}

// endUnwinding ends the revert of the atom that stands for the growing flow. That revert has failed if any revert
// failed and the undo continued after it.
func (s *Scheduler) endUnwinding() {
	s.inFlight.busy++ // completed decrements it
	s.completed(Event{Unit: s.root.Unit, Revert: true, Result: atom.Null, Failure: s.root.Rec.RevertFailure()})
}

// unwoundNode takes the topmost entry of the stack and reverts it.
func (s *Scheduler) unwoundNode(n *Node) {
	switch {
	case n == nil: // the store has fewer entries than were counted: the undo is complete
		s.undoStack.height = 0
		s.unwindNext()
	case n.Spec.Pivot && n.Rec.State == states.TaskSuccess, n.Path == s.undoStack.downTo:
		s.endUnwinding()
	case n.unsettled() && !n.passed():
		s.awaitRun(n)
	case n.Spec.Undo.Stays:
		s.pass(n)
		s.popUndo(n)
		s.unwindNext()
	default:
		s.undoStack.unwound = true
		s.unwoundRevertible(n)
	}
}

// unwoundRevertible takes the topmost entry of the stack, a node that can be reverted.
func (s *Scheduler) unwoundRevertible(n *Node) {
	switch {
	case s.undoStack.skipping && n.Rec.State == states.TaskRevertFailure:
		s.undoStack.skipping = false
		s.popUndo(n)
		s.setNode(n, states.TaskReverted)
		s.unwindNext()
	case n.Rec.State == states.TaskReverting && n.Rec.Due().After(s.now): // between two attempts
		s.waitNode(n)
	case n.Rec.State == states.TaskReverted: // undone before, with a part
		s.popUndo(n)
		s.unwindNext()
	case n.Rec.givenUp():
		s.giveUp(n, n.Rec.RevertFailure())
		s.unwindNext()
	default:
		s.beginRevert(n)
	}
}

// pass undoes a node that nothing reverts: what it did stays done.
func (s *Scheduler) pass(n *Node) {
	if n.passed() { // with a part that was undone before
		return
	}
	n.Rec.Intention = states.IntendRevert
	s.write(&n.Unit)
	if n.mayHaveEffect() {
		s.emit(Command{Op: Stays, Unit: &n.Unit, Rec: n.Rec})
	}
}

// beginRevert starts the first attempt to revert a node, or repeats an interrupted one.
func (s *Scheduler) beginRevert(n *Node) {
	n.Rec.Intention = states.IntendRevert
	if n.Rec.State == states.TaskRevertFailure {
		n.Rec.setExtra(func(x *RecordExtra) { x.RevertAttempt = 0 })
	}
	s.revertNode(n)
}

// revertNode makes one attempt to revert a node.
func (s *Scheduler) revertNode(n *Node) {
	n.Rec.clearDue()
	if n.external { // it was, until the run was suspended
		s.revertAwaited(&n.Unit)
	}
	if n.Rec.State == states.TaskReverting {
		s.write(&n.Unit)
	} else {
		s.setNode(n, states.TaskReverting)
	}
	s.makeCall(&n.Unit)
	s.emit(Command{
		Op: Revert, Unit: &n.Unit, Rec: n.Rec,
		Values: atom.Single(n.Spec.Input), Detail: &Detail{Outcome: n.Rec.outcome(s.Failures())},
	})
}

// nodeReverted handles the end of a revert from the stack.
func (s *Scheduler) nodeReverted(n *Node, ev Event) {
	if n.Scope.undoing != nil && n.Scope.undoing.node == n {
		s.partReverted(n, ev)
		return
	}
	if ev.Failure != nil {
		s.nodeRevertFailed(n, ev.Failure)
		return
	}
	n.reverted(&ev)
	s.popUndo(n)
	s.setNode(n, states.TaskReverted)
	s.unwindNext()
}

// popUndo is called before the state changes, so that both are stored together.
func (s *Scheduler) popUndo(n *Node) {
	s.undoStack.height--
	s.emit(Command{Op: PopUndo, Unit: &n.Unit})
}

func (s *Scheduler) nodeRevertFailed(n *Node, f *atom.Failure) {
	policy := n.Spec.Undo.Policy
	if n.Rec.revertAgainLater(&policy, f, s.now, s.random) && !s.stopReason.halted {
		s.write(&n.Unit)
		s.waitNode(n)
		return
	}
	s.undoStack.end = policy.Then
	if policy.Then == atom.GoOnUndoing {
		s.giveUp(n, f)
		s.setNode(n, states.TaskRevertFailure)
		s.unwindNext()
		return
	}
	s.setNode(n, states.TaskRevertFailure)
	s.inFlight.busy++ // completed decrements it
	s.completed(Event{Unit: s.root.Unit, Revert: true, Failure: f})
}

// giveUp removes an entry whose revert failed from the stack. The run then counts as partly undone.
func (s *Scheduler) giveUp(n *Node, f *atom.Failure) {
	s.root.Rec.setExtra(func(x *RecordExtra) { x.RevertFailure = f })
	s.write(s.root.Unit)
	s.popUndo(n)
}

var errNoForward = errors.New("a run of a language cannot go forward again from where it is taken back to; it can " +
	"be undone as far as that, and ends so")

// refuseUnwinding returns why a growing flow does not allow a command to go back. Only the store knows whether the
// path is on the stack.
func (s *Scheduler) refuseUnwinding(o *OperatorCommand) error {
	if !o.Keep {
		return s.refuseReopening(o)
	}
	if !o.Hold || o.Path == "" {
		return errNoForward
	}
	return nil
}

// unwindTo undoes a growing flow down to an entry of its stack, and ends it.
func (s *Scheduler) unwindTo(o *OperatorCommand) {
	s.undoStack.downTo = o.Path
	s.endFromOutside(PendingCancelled, o.Why, true)
}
