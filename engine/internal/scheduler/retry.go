package scheduler

import (
	"github.com/ebbflow/ebb/states"
)

// retry starts the next try of a retry's flow, after the pause that the controller asked for.
func (s *Scheduler) retry(a int32) {
	r := &s.rec[a]
	if !r.Due().After(s.now) {
		r.clearDue()
	}
	if s.revertFailedAfter(a) { // the effects of the last try are still there, so another try must not repeat them
		s.revertAll()
		s.push(op{choose, -1})
		return
	}
	s.set(a, states.TaskRetrying, r.Intention)
	s.prepareRetry(a)
	if r.Due().IsZero() {
		s.execute(a)
	}
}

// revertFailedAfter reports whether the revert of an atom after a failed.
func (s *Scheduler) revertFailedAfter(a int32) (failed bool) {
	if s.RevertFailed() {
		s.eachAfter(s.plan.Atoms[a].Node, func(b int32) { failed = failed || s.rec[b].givenUp() })
	}
	return failed
}

// prepareRetry resets the atoms after a retry in RETRYING.
func (s *Scheduler) prepareRetry(a int32) {
	r := &s.rec[a]
	if r.State != states.TaskRetrying {
		return
	}
	if r.Intention != states.IntendRevert { // as a resumed run may find it
		s.set(a, r.State, states.IntendExecute)
		s.eachAfter(s.plan.Atoms[a].Node, s.resetAtom)
	}
	if !r.Due().IsZero() {
		s.waitFor(a)
	}
}

// fired ends a wait.
func (s *Scheduler) fired(ev Event) {
	switch {
	case ev.Node != nil:
		s.nodeFired(ev.Node)
	case ev.Atom < 0:
		s.overdue()
	case s.rec[ev.Atom].Due().IsZero():
	case s.rec[ev.Atom].State == states.TaskRetrying:
		s.inFlight.waits--
		s.rec[ev.Atom].clearDue()
		s.touch(ev.Atom)
		s.push(op{choose, -1})
	case s.rec[ev.Atom].State == states.TaskReverting:
		s.inFlight.waits--
		s.rec[ev.Atom].clearDue()
		s.readySet.redo = append(s.readySet.redo, ev.Atom)
	}
}

// unwait ends the wait for another attempt of an atom that is reverted instead.
func (s *Scheduler) unwait(a int32) {
	if r := &s.rec[a]; !r.Due().IsZero() {
		s.inFlight.waits--
		r.clearDue()
		s.emit(Command{Op: Unwait, Atom: a})
	}
}
