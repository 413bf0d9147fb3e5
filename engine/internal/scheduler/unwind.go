package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// beginUnwinding undoes what a growing flow did, from the top of its stack.
func (s *Scheduler) beginUnwinding() {
	s.unwound = s.unwound || s.undos > 0
	s.unwindNext()
}

func (s *Scheduler) unwindNext() {
	if s.undos > 0 {
		if s.flow == states.FlowRunning && len(s.fatal) == 0 {
			s.asked = true
			s.emit(Command{Op: AskUndo, Atom: -1})
		}
		return
	}
	s.busy++ // completed counts it down
	s.completed(Event{Atom: 0, Revert: true, Result: atom.Null})
}

// unwoundNode takes the topmost entry of the stack and reverts it.
func (s *Scheduler) unwoundNode(n *Node) {
	if n == nil { // the store has less than was counted: there is no more to undo
		s.undos = 0
		s.unwindNext()
		return
	}
	n.Rec.Intention = states.IntendRevert
	n.executing = true
	s.busy++
	if n.Rec.State == states.TaskReverting {
		s.emit(Command{Op: Write, Atom: -1, Node: n, Rec: n.Rec})
	} else {
		s.setNode(n, states.TaskReverting)
	}
	s.emit(Command{
		Op: Revert, Atom: -1, Node: n, Rec: n.Rec,
		Values: atom.Single(n.Spec.Input), Outcome: n.Rec.outcome(s.Failures()),
	})
}

// nodeReverted takes the end of a revert from the stack.
func (s *Scheduler) nodeReverted(n *Node, ev Event) {
	if ev.Failure != nil {
		n.Rec.setRare(func(x *Rare) { x.RevertFailure, x.RevertResult = ev.Failure, nil })
		s.setNode(n, states.TaskRevertFailure)
		s.busy++ // completed counts it down
		s.completed(Event{Atom: 0, Revert: true, Failure: ev.Failure})
		return
	}
	n.Rec.setRare(func(x *Rare) { x.RevertResult, x.RevertFailure = ev.Result, nil })
	s.undos--
	s.emit(Command{Op: PopUndo, Atom: -1, Node: n}) // first, so that it is kept together with the state
	s.setNode(n, states.TaskReverted)
	s.unwindNext()
}
