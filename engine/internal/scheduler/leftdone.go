package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// What a node with a run of its own left done is known only to that run. If the node did not succeed, its own failure
// does not tell: the run may have failed after some of its work, or may still execute when the node has timed out or is
// cancelled. So when the undo passes such a node, it waits for the end of the run, and asks what was done in it. The
// wait is not stored: a process that resumes the undo asks again.

// unsettled reports whether it is not known yet what the run of a node that nothing reverts has done.
func (n *Node) unsettled() bool {
	return n.Spec.Undo.Stays && n.BeginsRun() && !n.Spec.Child.Detached && n.mayHaveEffect() &&
		n.Rec.Ended != grow.EndValue
}

// mayHaveEffect reports whether the node had its effect, or may have had it.
func (n *Node) mayHaveEffect() bool { return n.Rec.mayHaveEffect(n.BeginsRun()) }

// passed reports whether the undo has passed a node that nothing reverts.
func (n *Node) passed() bool { return n.Spec.Undo.Stays && n.Rec.Intention == states.IntendRevert }

// awaitRun asks what the run of a node did.
func (s *Scheduler) awaitRun(n *Node) {
	s.waitExternal(&n.Unit)
	s.emit(Command{Op: AwaitRun, Unit: &n.Unit})
}

// runKnown lets the undo pass a node whose run has ended.
func (s *Scheduler) runKnown(ev *Event) {
	n := ev.Unit.Node
	if !n.external {
		return
	}
	s.unwaitExternal(&n.Unit)
	if ev.Untaken {
		n.Rec.didNothing(n.Path)
		n.Rec.Ended = grow.EndHandled
	}
	s.pass(n)
	scope := n.Scope
	if u := scope.undoing; u != nil && u.node == n {
		u.node = nil
		s.offStack(n)
		s.goOnUndoing(scope)
		return
	}
	s.popUndo(n)
	s.unwindNext()
}

// reverted records the end of a revert.
func (n *Node) reverted(ev *Event) {
	n.Rec.setExtra(func(x *RecordExtra) { x.RevertResult, x.RevertFailure = ev.Result, nil })
	if ev.Untaken {
		n.Rec.Ended = grow.EndFailure
		n.Rec.didNothing(n.Path)
		n.Rec.Ended = grow.EndHandled
	}
}
