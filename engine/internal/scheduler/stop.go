package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// PendingOutcome is how a run will end that is being ended from outside.
type PendingOutcome uint8

// The pending outcomes.
const (
	NothingPending PendingOutcome = iota
	PendingTimedOut
	PendingCancelled
	PendingFailed // the run has reached a limit, or lacks a mock
)

// pendingOf returns the pending outcome that the language's end of a run implies.
func pendingOf(end *grow.End) PendingOutcome {
	switch {
	case end.TimedOut:
		return PendingTimedOut
	case end.Cancelled:
		return PendingCancelled
	default:
		return NothingPending
	}
}

// isEnding reports whether the run is being ended from outside. If so, a failure causes neither a retry nor a
// question, because it no longer decides anything.
func (s *Scheduler) isEnding() bool { return s.stopReason.pending != NothingPending }

// IsAbandoned reports whether the run is being ended without an undo.
func (s *Scheduler) IsAbandoned() bool { return s.stopReason.halted }

// IsEnding reports whether the run is being ended from outside.
func (s *Scheduler) IsEnding() bool { return s.isEnding() }

// StopFollows sets whether a stop of the run is the next event. Then the run does not come to rest before it, though
// all atoms have succeeded.
func (s *Scheduler) StopFollows(follows bool) { s.stopReason.follows = follows }

// endFromOutside makes the run end with a pending outcome. It cancels running calls. If undo is true, it undoes all
// completed atoms. A second call changes nothing, so the driver may call it again after a crash.
func (s *Scheduler) endFromOutside(pending PendingOutcome, why *atom.Failure, undo bool) {
	s.stopReason.pending, s.stopReason.pendingFailure = pending, why
	s.emit(Command{Op: PendingFailure, PendingOutcome: pending, Detail: &Detail{Failures: []*atom.Failure{why}}})
	s.failing.rewinding, s.stopReason.parked, s.stopReason.halted, s.failing.fatal = nil, false, !undo, nil
	switch {
	case s.root != nil && s.root.Rec.State == states.TaskRunning:
		s.stopRoot(grow.Stopped)
	case undo:
		s.interruptAll()
		s.revertAll()
		if s.leftOnStack() {
			s.readySet.redo = append(s.readySet.redo, 0)
		}
	default:
		s.interruptAll()
	}
	s.push(op{choose, -1})
}

// interruptAll cancels running calls, whose ends still come, and does not wait for atoms that another party ends.
func (s *Scheduler) interruptAll() {
	for i := range s.units {
		u := &s.units[i]
		s.void(u)
		switch {
		case u.Rec.State != states.TaskRunning || u.Awaits():
		case u.Interrupted() && s.giveUpInterrupted(u):
		default:
			s.emit(Command{Op: Cancel, Unit: u})
		}
	}
}

// exceeded fails and undoes a run that has reached a limit or lacks a mock. The event may take the place of an answer
// of a language, which then has no effect.
func (s *Scheduler) exceeded(f *atom.Failure) {
	s.growth.asked, s.growth.asking = false, ask{}
	s.endFromOutside(PendingFailed, f, true)
}

// overdue ends a run whose deadline has passed, unless the run is already ending. The language of a growing flow
// decides itself what follows.
func (s *Scheduler) overdue() {
	root := s.units[0].Rec.State
	switch {
	case s.isEnding(), s.failing.revAll, s.finished():
	case s.root != nil && root != states.TaskPending && root != states.TaskRunning: // it had failed when it was loaded
	case s.root != nil:
		s.stopRoot(grow.Overdue)
	default:
		s.endFromOutside(PendingTimedOut, &atom.Failure{Code: atom.CodeTimeout, Message: "the run's deadline has passed"},
			true)
	}
}

// stopRoot cancels the open nodes of the run's own growing flow. Then it tells the language why.
func (s *Scheduler) stopRoot(why grow.CauseKind) {
	if s.root.closed || s.root.outside == grow.Stopped || s.root.outside == why {
		return
	}
	s.root.outside = why
	s.listen(s.root, false)
	if !s.root.begun { // the language has not started, and is not told
		s.forgetAsks()
		s.endScope(s.root, &grow.End{Failure: s.stopReason.pendingFailure})
		return
	}
	s.stop(s.root)
}
