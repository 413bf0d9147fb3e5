package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// completed handles the end of an Execute or Revert.
func (s *Scheduler) completed(ev Event) {
	if ev.late() {
		return
	}
	switch awaited := s.awaited(&ev); {
	case awaited && ev.Revert:
		s.revertAwaited(ev.Atom, ev.Node)
	case awaited && ev.Node != nil:
		s.unwaitExternal(ev.Node)
		s.notWithdrawn(ev.Node, -1)
	case awaited:
		s.inFlight.waits--
		s.notWithdrawn(nil, ev.Atom)
	case !ev.Revert && s.Interrupted(ev.Node, ev.Atom): // no call is made
	default:
		s.inFlight.busy--
	}
	if ev.Node != nil {
		s.nodeCompleted(ev)
		return
	}
	a, r := ev.Atom, &s.rec[ev.Atom]
	switch {
	case ev.Revert && ev.Failure != nil:
		s.revertFailed(a, ev.Failure)
	case ev.Revert:
		if r.Extra != nil || len(ev.Result) > 0 && !isNull(ev.Result) {
			r.setExtra(func(x *RecordExtra) {
				x.RevertResult, x.RevertFailure = ev.Result, nil
				if s.isRetry(a) {
					x.Tries = nil
				}
			})
		}
		if ev.Untaken && r.Ended != flow.EndValue {
			r.didNothing(s.plan.Atoms[a].Name())
		}
		s.set(a, states.TaskReverted, r.Intention)
		if of := &s.plan.Atoms[a]; of.StaysDone() && r.mayHaveEffect(of.Run != nil) {
			s.emit(Command{Op: Stays, Atom: a, Rec: *r})
		}
	case ev.Failure != nil:
		s.executionFailed(a, ev.Failure)
	default:
		r.Result, r.Ended = ev.Result, flow.EndValue
		if ev.continued {
			r.Ended = flow.EndContinued
		}
		s.setFailure(a, nil)
		if s.isRetry(a) {
			s.tried(a, ev.Result)
		} else {
			r.Extra = nil
		}
		s.set(a, states.TaskSuccess, r.Intention)
		s.passed(a)
	}
	s.push(op{choose, -1})
}

func isNull(v atom.Value) bool { return string(v) == string(atom.Null) }

func (s *Scheduler) executionFailed(a int32, f *atom.Failure) {
	r := &s.rec[a]
	f = r.ofExecution(f)
	r.Ended = flow.EndFailure
	if q := s.queueOf(nil, a); *q == callQueue && f.Code == atom.CodeCancelled { // take the attempt back
		*q, r.Attempt = begunQueue, 0
	}
	if s.tryAgainLater(a, f) {
		return
	}
	if r.NeverCalled() {
		r.Failure = f
	} else {
		s.setFailure(a, f)
	}
	if s.isRetry(a) {
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
		s.set(a, states.TaskCancelled, r.Intention)
		return
	}
	s.set(a, states.TaskFailure, r.Intention)
	if s.plan.FailurePolicy == flow.LeaveFailed || s.stopReason.halted {
		s.failing.fatal = append(s.failing.fatal, f)
		return
	}
	s.push(op{resolve, a})
}

// setFailure maintains the list of atoms that have a failure.
func (s *Scheduler) setFailure(a int32, f *atom.Failure) {
	r := &s.rec[a]
	if r.Failure == nil && f == nil {
		return
	}
	at, found := slices.BinarySearch(s.failing.failed, a)
	switch {
	case f == nil && found:
		s.failing.failed = slices.Delete(s.failing.failed, at, at+1)
	case f != nil && !found:
		s.failing.failed = slices.Insert(s.failing.failed, at, a)
	}
	r.Failure = f
	s.failing.failures = nil
}

// Failures returns the failures of atoms, in the order of the plan. Reverts receive them.
func (s *Scheduler) Failures() []*atom.Failure {
	if s.failing.failures == nil {
		for _, a := range s.failing.failed {
			s.failing.failures = append(s.failing.failures, s.rec[a].Failure)
		}
	}
	return s.failing.failures
}
