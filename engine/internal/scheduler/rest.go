package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// idle starts the atoms that are ready, or brings the run to rest.
func (s *Scheduler) idle() {
	if s.growth.asked || s.readySet.startAt < len(s.readySet.wave) {
		return
	}
	if s.postponed() {
		if s.runOps(); len(s.out) > 0 {
			return
		}
	}
	if s.flow == states.FlowRunning && len(s.failing.fatal) == 0 && !s.stopReason.halted && !s.stopReason.parked {
		s.gather()
		if len(s.readySet.wave) > 0 {
			s.startWave()
			s.runOps()
			return
		}
	}
	if s.inFlight.busy > 0 || s.inFlight.reverting > 0 && s.flow == states.FlowRunning && !s.stopReason.halted {
		return
	}
	switch {
	case len(s.failing.fatal) > 0 || s.stopReason.halted:
		s.rest(states.FlowFailure)
	case s.stopReason.follows && s.finished():
	case s.stopReason.parked:
		s.rest(states.FlowSuspended)
	case s.flow == states.FlowRunning && s.failing.rewinding != nil && s.rewound():
	case s.flow == states.FlowRunning && s.inFlight.waits > 0:
	case s.flow == states.FlowRunning && s.unfinished():
		s.failing.fatal = append(s.failing.fatal,
			&atom.Failure{Code: "Ebb.Stuck", Message: "no atom can continue; this is a defect of Ebb"})
		s.rest(states.FlowFailure)
	case s.readySet.readyN > 0 || s.flow == states.FlowSuspending && (s.failing.rewinding != nil || s.unfinished()):
		s.rest(states.FlowSuspended)
	case s.readySet.okN == len(s.units):
		s.rest(states.FlowSuccess)
	case s.RevertFailed() || s.Kept() || !s.undone():
		s.rest(states.FlowFailure)
	default:
		s.rest(states.FlowReverted)
	}
}

// finished reports whether all atoms of a run have succeeded, so that it only has to come to rest.
func (s *Scheduler) finished() bool {
	return s.flow == states.FlowRunning && s.readySet.okN == len(s.units)
}

// unfinished reports whether a call of an atom was interrupted.
func (s *Scheduler) unfinished() bool {
	return s.anyIn(states.TaskRunning, states.TaskReverting, states.TaskRetrying)
}

// undone reports whether the run undid what can be undone. If not, a failed run ends FAILURE. As in TaskFlow, a retry
// that reverts only its own part counts. If failed atoms are left as they are, nothing was undone before.
func (s *Scheduler) undone() (undone bool) {
	if s.root != nil {
		return s.undoStack.unwound
	}
	for i := range s.units {
		st := s.units[i].Rec.State
		if st == states.TaskPending || st == states.TaskIgnore || !s.plan.Atoms[i].Reverts() {
			continue
		}
		if s.plan.FailurePolicy == flow.LeaveFailed && (st == states.TaskSuccess || st == states.TaskFailure) {
			return false
		}
		undone = true
	}
	return undone
}

// leave ends unfinished atoms when the run ends: all of them if the run was halted, else the atoms that wait for
// another attempt.
func (s *Scheduler) leave() {
	for i := range s.units {
		u, r := &s.units[i], &s.units[i].Rec
		// Or the wait has just ended.
		waits := !r.Due().IsZero() || r.State == states.TaskReverting && r.RevertFailure() != nil
		if !s.stopReason.halted && (s.root != nil || !waits) {
			continue
		}
		switch r.State {
		case states.TaskRunning, states.TaskRetrying:
			s.unwait(u)
			s.set(u, states.TaskCancelled, r.Intention)
		case states.TaskReverting:
			s.unwait(u)
			s.voidRevert(u)
			s.set(u, states.TaskRevertFailure, r.Intention)
		default:
		}
	}
}

func (s *Scheduler) rest(to states.Flow) {
	if to == states.FlowFailure {
		s.leave()
	}
	s.setFlow(to)
	if s.flow.Ended() {
		s.finishCommands()
	}
	c := Command{
		Op: Over, FlowTo: s.flow, PendingOutcome: s.stopReason.pending,
		Detail: &Detail{Failures: s.failing.fatal},
	}
	if s.root != nil {
		c.End = loadedEnd(&s.root.Rec, nil)
	}
	if s.stopReason.pendingFailure != nil {
		c.Failures = append([]*atom.Failure{s.stopReason.pendingFailure}, c.Failures...)
	}
	switch {
	case len(c.Failures) > 0 || to == states.FlowSuccess:
	case to != states.FlowSuspended:
		c.Failures = s.AllFailures()
	case s.stopReason.parked: // failures that an operator must decide about come first
		c.Failures = append(s.revertFailures(), s.Failures()...)
	}
	s.emit(c)
}
