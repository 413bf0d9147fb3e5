package scheduler

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// begin sets the flow to RUNNING and resumes unfinished work. A growing flow resumes from its records alone, so if
// it came to rest, it must be loaded again.
func (s *Scheduler) begin(ev *Event) {
	if s.root != nil && !ev.Fresh && s.flow != states.FlowPending {
		panic("scheduler: a growing flow goes on that was not loaded") // a defect of the driver
	}
	if ev.Fresh && s.flow != states.FlowPending && !s.onlyWaited() {
		s.setFlow(states.FlowResuming)
		s.setFlow(states.FlowSuspended)
	}
	if s.flow == states.FlowReverted && ev.OperatorCommand == nil {
		s.reset()
	}
	anew := s.flow == states.FlowPending || s.flow.Ended()
	reopens := s.reopens(ev.OperatorCommand) && s.Refuse(ev.OperatorCommand) == nil
	s.setFlow(states.FlowRunning)
	if anew && s.plan.Deadline > 0 && s.root == nil {
		s.emit(Command{Op: Deadline, Detail: &Detail{Due: s.now.Add(s.plan.Deadline)}})
	}
	s.failing.fatal, s.stopReason.parked = nil, false
	s.forgetAsks()
	s.failing.ops, s.failing.opAt, s.cancelQueue.left = s.failing.ops[:0], 0, nil // the records say what was postponed
	s.lookAround()
	switch {
	case reopens:
		s.reopen(ev.OperatorCommand)
	case ev.OperatorCommand != nil:
		s.applyCommand(ev.OperatorCommand)
	case s.stopReason.pending == PendingFailed: // the process died, or was stopped, while the run was ending
		s.endFromOutside(s.stopReason.pending, s.stopReason.pendingFailure, true)
	}
}

// lookAround queues the unfinished work that the records show: failures to resolve, waits, and interrupted calls.
func (s *Scheduler) lookAround() {
	if s.root == nil {
		s.inFlight.waits = 0 // an atom whose record shows a wait starts that wait again
		s.inFlight.reverting = 0
	}
	s.readySet.newReady, s.readySet.chooseAt, s.readySet.next, s.readySet.redo = s.readySet.newReady[:0], 0,
		s.readySet.next[:0],
		s.readySet.redo[:0]
	for i := range s.units {
		u, a := &s.units[i], int32(i)
		if s.root == nil {
			u.external = false
		}
		switch r := &u.Rec; {
		case r.State == states.TaskFailure && s.plan.FailurePolicy != flow.LeaveFailed:
			s.push(op{resolve, a})
		case r.State == states.TaskRetrying && u.IsRetry():
			s.push(op{renew, a})
		case r.State == states.TaskRetrying && !r.Due().IsZero():
			s.waitFor(u)
		case r.State == states.TaskRevertFailure && s.parks(u):
			s.stopReason.parked = true
		case r.Awaits() && s.root == nil:
			s.waitExternal(u)
			if r.Intention == states.IntendRevert { // the process died while its work was being withdrawn
				s.void(u)
			}
		case r.State == states.TaskRunning || r.State == states.TaskReverting:
			s.readySet.redo = append(s.readySet.redo, a)
		}
		s.readySet.selected[i] = false
		if s.readySet.ready[i] {
			s.readySet.newReady = append(s.readySet.newReady, a)
		}
	}
	s.push(op{choose, -1})
}

// reset makes all atoms PENDING. The caller has checked that the flow's table allows a reset.
func (s *Scheduler) reset() {
	if states.CheckReset(s.flow, states.FlowPending) != nil {
		return
	}
	s.forgetRevertAll()
	s.stopReason.halted, s.stopReason.parked = false, false
	s.failing.rewinding, s.failing.fatal, s.failing.kept = nil, nil, nil
	s.stopReason.pending, s.stopReason.pendingFailure = NothingPending, nil
	if s.root != nil {
		s.root, s.undoStack.unwound = s.ownScope(), false
		s.forgetAsks()
		s.growth.alive, s.growth.held = 0, 0
	}
	for i := range s.units {
		if u := &s.units[i]; u.Rec.State != states.TaskPending || u.Rec.Intention != states.IntendExecute {
			s.resetAtom(u)
		}
	}
	if s.flow != states.FlowPending {
		s.emit(Command{Op: FlowState, FlowFrom: s.flow, FlowTo: states.FlowPending})
		s.flow = states.FlowPending
	}
}

// resetAtom makes one atom PENDING. Its result and failure stay until the end of its next attempt replaces them.
func (s *Scheduler) resetAtom(u *Unit) {
	r := &u.Rec
	if r.State != states.TaskPending {
		r.Incarnation++
		r.Attempt = 0
		r.Ended = grow.EndNone
	}
	s.set(u, states.TaskPending, states.IntendExecute)
}
