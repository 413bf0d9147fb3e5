package scheduler

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// beginUnwinding undoes what a growing flow did, from the top of its stack.
func (s *Scheduler) beginUnwinding() {
	s.stack.unwound, s.stack.holes = s.stack.unwound || s.stack.height > 0, nil
	s.unwindNext()
}

func (s *Scheduler) unwindNext() {
	if s.stack.height == 0 {
		s.endUnwinding()
		return
	}
	if s.flow == states.FlowRunning && len(s.failing.fatal) == 0 && !s.ending.halted && !s.ending.parked {
		s.growth.asked = true
		s.emit(Command{Op: AskUndo, Atom: -1, Detail: &Detail{}})
	}
}

// leftOnStack reports whether the growing flow was undone, but not all of it.
func (s *Scheduler) leftOnStack() bool {
	return s.root != nil && s.rec[0].State == states.TaskReverted && s.stack.height > 0
}

// endUnwinding ends the revert of the atom that stands for the growing flow. It
// has failed if any revert on the way has, and was gone on after.
func (s *Scheduler) endUnwinding() {
	s.flight.busy++ // completed counts it down
	s.completed(Event{Atom: 0, Revert: true, Result: atom.Null, Failure: s.rec[0].RevertFailure()})
}

// unwoundNode takes the topmost entry of the stack and reverts it.
func (s *Scheduler) unwoundNode(n *Node) {
	switch {
	case n == nil: // the store has less than was counted: there is no more to undo
		s.stack.height = 0
		s.unwindNext()
	case n.Spec.Pivot && n.Rec.State == states.TaskSuccess, n.Path == s.stack.downTo:
		s.endUnwinding()
	case s.stack.skipping && n.Rec.State == states.TaskRevertFailure:
		s.stack.skipping = false
		s.popUndo(n)
		s.setNode(n, states.TaskReverted)
		s.unwindNext()
	case n.Rec.State == states.TaskReverting && n.Rec.Due().After(s.now): // between two attempts
		s.waitNode(n)
	case n.Rec.State == states.TaskReverted: // with a part that was undone before
		s.popUndo(n)
		s.unwindNext()
	case n.Rec.givenUp():
		s.giveUp(n, n.Rec.RevertFailure())
		s.unwindNext()
	default:
		s.beginRevert(n)
	}
}

// beginRevert makes the first attempt to revert a node, or begins anew.
func (s *Scheduler) beginRevert(n *Node) {
	n.Rec.Intention = states.IntendRevert
	if n.Rec.State == states.TaskRevertFailure {
		n.Rec.setRare(func(x *Rare) { x.RevertAttempt = 0 })
	}
	s.revertNode(n)
}

// revertNode makes one attempt to revert a node.
func (s *Scheduler) revertNode(n *Node) {
	n.Rec.clearDue()
	if n.elsewhere { // until the run was suspended
		s.revertAwaited(-1, n)
	}
	if n.Rec.State == states.TaskReverting {
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
	} else {
		s.setNode(n, states.TaskReverting)
	}
	n.executing = true
	s.flight.busy++
	s.emit(Command{
		Op: Revert, Atom: -1, Node: n, Rec: n.Rec,
		Values: atom.Single(n.Spec.Input), Detail: &Detail{Outcome: n.Rec.outcome(s.Failures())},
	})
}

// nodeReverted takes the end of a revert from the stack.
func (s *Scheduler) nodeReverted(n *Node, ev Event) {
	if n.Scope.undoing != nil && n.Scope.undoing.node == n {
		s.partReverted(n, ev)
		return
	}
	if ev.Failure != nil {
		s.nodeRevertFailed(n, ev.Failure)
		return
	}
	n.Rec.setRare(func(x *Rare) { x.RevertResult, x.RevertFailure = ev.Result, nil })
	s.popUndo(n)
	s.setNode(n, states.TaskReverted)
	s.unwindNext()
}

// popUndo comes before the state, so that it is kept together with it.
func (s *Scheduler) popUndo(n *Node) {
	s.stack.height--
	s.emit(Command{Op: PopUndo, Atom: -1, Node: n})
}

func (s *Scheduler) nodeRevertFailed(n *Node, f *atom.Failure) {
	policy := n.Spec.Undo.Policy
	if n.Rec.revertAgainLater(&policy, f, s.now, s.random) && !s.ending.halted {
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
		s.waitNode(n)
		return
	}
	s.stack.end = policy.Then
	if policy.Then == atom.GoOnUndoing {
		s.giveUp(n, f)
		s.setNode(n, states.TaskRevertFailure)
		s.unwindNext()
		return
	}
	s.setNode(n, states.TaskRevertFailure)
	s.flight.busy++ // completed counts it down
	s.completed(Event{Atom: 0, Revert: true, Failure: f})
}

// giveUp takes an entry off the stack that could not be undone. The run is not
// undone as a whole any more.
func (s *Scheduler) giveUp(n *Node, f *atom.Failure) {
	s.rec[0].setRare(func(x *Rare) { x.RevertFailure = f })
	s.emit(Command{Op: Write, Atom: 0, Rec: s.rec[0]})
	s.popUndo(n)
}

var errNoForward = errors.New("a run of a language cannot go forward again from where it is taken back to; it can be undone as far as that, and ends so")

// refuseUnwinding returns why a growing flow does not allow a command to go back.
// Whether the path is on the stack is the store's to know.
func (s *Scheduler) refuseUnwinding(o *OperatorCommand) error {
	if !o.Keep || !o.Hold || o.Path == "" {
		return errNoForward
	}
	return nil
}

// unwindTo undoes a growing flow as far as an entry of its stack, and ends it.
func (s *Scheduler) unwindTo(o *OperatorCommand) {
	s.stack.downTo = o.Path
	s.endFromOutside(PendingCancelled, o.Why, true)
}
