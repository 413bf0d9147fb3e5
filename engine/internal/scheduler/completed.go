package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// completed handles the end of an Execute or Revert.
func (s *Scheduler) completed(ev Event) {
	if ev.late() {
		return
	}
	u := ev.Unit
	switch {
	case ev.Revert && u.external:
		s.revertAwaited(u)
	case !ev.Revert && u.Awaits():
		s.unwaitExternal(u)
		s.notWithdrawn(u)
	case !ev.Revert && u.Interrupted(): // no call is made
	default:
		s.inFlight.busy--
	}
	u.executing = false
	if u.Node != nil {
		s.nodeCompleted(u.Node, ev)
		return
	}
	r := &u.Rec
	switch {
	case ev.Revert && ev.Failure != nil:
		s.revertFailed(u, ev.Failure)
	case ev.Revert:
		if r.Extra != nil || len(ev.Result) > 0 && !isNull(ev.Result) {
			r.setExtra(func(x *RecordExtra) {
				x.RevertResult, x.RevertFailure = ev.Result, nil
				if u.IsRetry() {
					x.Tries = nil
				}
			})
		}
		if ev.Untaken && r.Ended != grow.EndValue {
			r.didNothing(u.Path)
		}
		s.set(u, states.TaskReverted, r.Intention)
		if of := u.Planned; of.StaysDone() && r.mayHaveEffect(of.Run != nil) {
			s.emit(Command{Op: Stays, Unit: u, Rec: *r})
		}
	case ev.Failure != nil:
		s.executionFailed(u, ev.Failure)
	default:
		r.Result, r.Ended = ev.Result, grow.EndValue
		if ev.continued {
			r.Ended = grow.EndContinued
		}
		s.setFailure(u, nil)
		if u.IsRetry() {
			s.tried(u, ev.Result)
		} else {
			r.Extra = nil
		}
		s.set(u, states.TaskSuccess, r.Intention)
		s.passed(u)
	}
	s.push(op{choose, -1})
}

func isNull(v atom.Value) bool { return string(v) == string(atom.Null) }

func (s *Scheduler) executionFailed(u *Unit, f *atom.Failure) {
	r := &u.Rec
	f = r.ofExecution(f)
	r.Ended = grow.EndFailure
	if f.Code == atom.CodeCancelled {
		u.takeBack()
	}
	if s.tryAgainLater(u, f) {
		return
	}
	if r.NeverCalled() {
		r.Failure = f
	} else {
		s.setFailure(u, f)
	}
	if u.IsRetry() {
		h := r.Tries()
		h.Failure = f
		r.Extra = &RecordExtra{Tries: &h}
	} else {
		r.Extra = nil
		if s.root == nil { // else it says what was open at the end
			r.Result = nil
		}
	}
	if s.isEnding() && s.root == nil {
		s.set(u, states.TaskCancelled, r.Intention)
		return
	}
	s.set(u, states.TaskFailure, r.Intention)
	if s.plan.FailurePolicy == flow.LeaveFailed || s.stopReason.halted {
		s.failing.fatal = append(s.failing.fatal, f)
		return
	}
	s.push(op{resolve, u.Index})
}

// setFailure maintains the list of atoms that have a failure.
func (s *Scheduler) setFailure(u *Unit, f *atom.Failure) {
	r := &u.Rec
	if r.Failure == nil && f == nil {
		return
	}
	at, found := slices.BinarySearch(s.failing.failed, u.Index)
	switch {
	case f == nil && found:
		s.failing.failed = slices.Delete(s.failing.failed, at, at+1)
	case f != nil && !found:
		s.failing.failed = slices.Insert(s.failing.failed, at, u.Index)
	}
	r.Failure = f
	s.failing.failures = nil
}

// Failures returns the failures of atoms, in the order of the plan. Reverts receive them.
func (s *Scheduler) Failures() []*atom.Failure {
	if s.failing.failures == nil {
		for _, a := range s.failing.failed {
			s.failing.failures = append(s.failing.failures, s.units[a].Rec.Failure)
		}
	}
	return s.failing.failures
}
