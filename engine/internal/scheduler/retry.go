package scheduler

import (
	"github.com/ebbflow/ebb/states"
)

// retry starts the next try of a retry's flow, after the pause that the controller asked for.
func (s *Scheduler) retry(u *Unit) {
	r := &u.Rec
	if !r.Due().After(s.now) {
		r.clearDue()
	}
	if s.revertFailedAfter(u) { // the effects of the last try are still there, so another try must not repeat them
		s.revertAll()
		s.push(op{choose, -1})
		return
	}
	s.set(u, states.TaskRetrying, r.Intention)
	s.prepareRetry(u)
	if r.Due().IsZero() {
		s.execute(u)
	}
}

// revertFailedAfter reports whether the revert of an atom after a failed.
func (s *Scheduler) revertFailedAfter(u *Unit) (failed bool) {
	if s.RevertFailed() {
		s.eachAfter(u, func(after *Unit) { failed = failed || after.Rec.givenUp() })
	}
	return failed
}

// prepareRetry resets the atoms after a retry in RETRYING.
func (s *Scheduler) prepareRetry(u *Unit) {
	r := &u.Rec
	if r.State != states.TaskRetrying {
		return
	}
	if r.Intention != states.IntendRevert { // as a resumed run may find it
		s.set(u, r.State, states.IntendExecute)
		s.eachAfter(u, s.resetAtom)
	}
	if !r.Due().IsZero() {
		s.waitFor(u)
	}
}

// fired ends a wait.
func (s *Scheduler) fired(ev Event) {
	switch u := ev.Unit; {
	case u == nil:
		s.overdue()
	case u.Node != nil:
		s.nodeFired(u.Node)
	case u.Rec.Due().IsZero():
	case u.Rec.State == states.TaskRetrying:
		s.inFlight.waits--
		u.Rec.clearDue()
		s.touch(u)
		s.push(op{choose, -1})
	case u.Rec.State == states.TaskReverting:
		s.inFlight.waits--
		u.Rec.clearDue()
		s.readySet.redo = append(s.readySet.redo, u.Index)
	}
}

// unwait ends the wait for another attempt of an atom that is reverted instead.
func (s *Scheduler) unwait(u *Unit) {
	if r := &u.Rec; !r.Due().IsZero() {
		s.inFlight.waits--
		r.clearDue()
		s.emit(Command{Op: Unwait, Unit: u})
	}
}
