package scheduler

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
)

// tryAgainLater lets a failed task wait in RETRYING for its next attempt, if its own policy allows one. Retries
// around it do not see the failure.
func (s *Scheduler) tryAgainLater(u *Unit, f *atom.Failure) bool {
	r := &u.Rec
	policy := u.Planned.Attempts()
	if policy == nil || u.IsRetry() || s.isEnding() || s.plan.FailurePolicy == flow.LeaveFailed ||
		r.Intention != states.IntendExecute {
		return false
	}
	wait, again := policy.After(int(r.Attempt), f)
	if !again {
		return false
	}
	r.Failure, r.Result, r.Extra = f, nil, nil // kept for views; it is not a failure of the run
	if wait = atom.Jittered(wait, policy.Backoff.Jitter, s.random); wait > 0 {
		r.setExtra(func(x *RecordExtra) { x.Due = s.now.Add(wait) })
	}
	s.set(u, states.TaskRetrying, r.Intention)
	if wait > 0 {
		s.waitFor(u)
	}
	return true
}

// waitFor waits until the atom's due time.
func (s *Scheduler) waitFor(u *Unit) {
	s.inFlight.waits++
	s.emit(Command{Op: Wait, Unit: u, Detail: &Detail{Due: u.Rec.Due()}})
}

// revertAgainLater schedules another attempt of a failed revert, if the policy allows one.
func (r *Record) revertAgainLater(p *atom.RevertPolicy, f *atom.Failure, now time.Time, random float64) bool {
	wait, again := p.After(int(r.RevertAttempt())+1, f)
	r.setExtra(func(x *RecordExtra) {
		x.RevertFailure, x.RevertResult = f, nil
		x.RevertAttempt++
		if again {
			x.Due = now.Add(atom.Jittered(wait, p.Backoff.Jitter, random))
		}
	})
	return again
}

// revertFailed applies the atom's policy to a failed revert.
func (s *Scheduler) revertFailed(u *Unit, f *atom.Failure) {
	r := &u.Rec
	policy := u.Planned.RevertPolicy()
	if s.root == nil && r.revertAgainLater(&policy, f, s.now, s.random) && !s.stopReason.halted {
		s.write(u)
		s.waitFor(u)
		return
	}
	if s.root != nil {
		r.setExtra(func(x *RecordExtra) { x.RevertFailure, x.RevertResult = f, nil })
		policy.Then = s.undoStack.end
	}
	switch policy.Then {
	case atom.GoOnUndoing: // atoms before it may be reverted now
		s.set(u, states.TaskRevertFailure, states.IntendIgnore)
	case atom.Park:
		s.stopReason.parked = true
		s.set(u, states.TaskRevertFailure, r.Intention)
	default:
		s.set(u, states.TaskRevertFailure, r.Intention)
		s.failing.fatal = append(s.failing.fatal, f)
	}
}

// givenUp reports whether the atom's revert failed and the undo continued.
func (r *Record) givenUp() bool {
	return r.State == states.TaskRevertFailure && r.Intention == states.IntendIgnore
}

// parks reports whether an atom's failed revert waits for an operator.
func (s *Scheduler) parks(u *Unit) bool {
	if s.root != nil {
		return s.undoStack.end == atom.Park
	}
	return u.Rec.Intention != states.IntendIgnore && u.Planned.RevertPolicy().Then == atom.Park
}
