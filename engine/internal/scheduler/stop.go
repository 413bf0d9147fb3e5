package scheduler

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// PendingOutcome is how a run that is being ended from outside will end.
type PendingOutcome uint8

// The pending outcomes.
const (
	NothingPending PendingOutcome = iota
	PendingTimedOut
	PendingCancelled
	PendingFailed // the run has reached a limit
)

// pendingOf returns the pending outcome that a language lets a run end by.
func pendingOf(end *flow.End) PendingOutcome {
	switch {
	case end.TimedOut:
		return PendingTimedOut
	case end.Cancelled:
		return PendingCancelled
	default:
		return NothingPending
	}
}

// isEnding reports whether the run is being ended from outside. If so, a failure is
// neither retried nor asked about, because it decides nothing any more.
func (s *Scheduler) isEnding() bool { return s.ending.pending != NothingPending }

// IsEnding reports the same.
func (s *Scheduler) IsEnding() bool { return s.isEnding() }

// endFromOutside lets the run end with a pending outcome. It cancels what executes.
// With undo it undoes all that was done, otherwise that stays as it is. A second call
// changes nothing, so the driver may call it again after a crash.
func (s *Scheduler) endFromOutside(pending PendingOutcome, why *atom.Failure, undo bool) {
	s.ending.pending, s.ending.pendingFailure = pending, why
	s.emit(Command{Op: PendingFailure, Atom: -1, PendingOutcome: pending, Detail: &Detail{Failures: []*atom.Failure{why}}})
	s.failing.rewinding, s.ending.parked, s.ending.halted, s.failing.fatal = nil, false, !undo, nil
	switch {
	case s.root != nil && s.rec[0].State == states.TaskRunning:
		s.stopRoot(flow.Stopped)
	case undo:
		s.interruptAll()
		s.revertAll()
		if s.leftOnStack() {
			s.front.redo = append(s.front.redo, 0)
		}
	default:
		s.interruptAll()
	}
	s.push(op{choose, -1})
}

// interruptAll cancels what executes, whose ends still come, and does not wait
// for what is ended elsewhere.
func (s *Scheduler) interruptAll() {
	for i := range s.rec {
		s.void(int32(i))
		if s.rec[i].State == states.TaskRunning {
			s.emit(Command{Op: Cancel, Atom: int32(i)})
		}
	}
}

// exceeded fails a run that has reached a limit, and undoes what it did. It may be
// in place of an answer of a language, which then has no say any more.
func (s *Scheduler) exceeded(f *atom.Failure) {
	s.growth.asked, s.growth.asking = false, ask{}
	s.endFromOutside(PendingFailed, f, true)
}

// overdue ends a run whose time is up, unless it is on its way to its end. The
// language of a growing flow says itself what that means.
func (s *Scheduler) overdue() {
	switch {
	case s.isEnding(), s.failing.revAll:
	case s.root != nil:
		s.stopRoot(flow.Overdue)
	default:
		s.endFromOutside(PendingTimedOut, &atom.Failure{Code: atom.CodeTimeout, Message: "the run took longer than it may"}, true)
	}
}

// stopRoot ends what the run's own growing flow still does; then its language is
// told why.
func (s *Scheduler) stopRoot(why flow.CauseKind) {
	if s.root.closed || s.root.outside == flow.Stopped || s.root.outside == why {
		return
	}
	s.root.outside = why
	s.listen(s.root, false)
	if !s.root.begun { // the language has not begun, and is not told
		s.forgetAsks()
		s.endScope(s.root, &flow.End{Failure: s.ending.pendingFailure})
		return
	}
	s.stop(s.root)
}
