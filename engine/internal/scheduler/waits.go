package scheduler

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

// Waits reports whether the run only waits.
func (s *Scheduler) Waits() bool {
	return s.flow == states.FlowRunning && s.inFlight.busy == 0 && s.inFlight.waits > 0 && !s.growth.asked &&
		!s.postponed() && s.readySet.startAt >= len(s.readySet.wave) && len(s.failing.fatal) == 0
}

// onlyWaited reports whether a loaded run only waited when it was released. If so, it resumes as if it had not been
// released.
func (s *Scheduler) onlyWaited() bool {
	if s.flow != states.FlowRunning || s.readySet.readyN > 0 || s.stopReason.pending != NothingPending {
		return false
	}
	if s.root != nil && s.undoes() {
		return false
	}
	waits := 0
	for i := range s.units {
		r := &s.units[i].Rec
		switch {
		case s.root != nil && r.State == states.TaskRunning:
			if !s.root.begun || s.root.ending != nil || s.wantsMore(s.root) {
				return false
			}
		case r.Awaits() && r.Intention != states.IntendRevert, r.State == states.TaskRetrying && !r.Due().IsZero():
			waits++
		case r.State == states.TaskRunning, r.State == states.TaskReverting, r.State == states.TaskRetrying,
			r.State == states.TaskFailure:
			return false
		}
	}
	for n := range s.Open {
		switch {
		case n.Spec.Kind == grow.Fork && n.Rec.State == states.TaskRunning && !n.decided && !n.dropped():
			if !s.onlyChildren(n) {
				return false
			}
		case n.onlyWaits():
			waits++
		default:
			return false
		}
	}
	return waits > 0 || s.root != nil && s.root.Rec.Awaits()
}

// onlyChildren reports whether a fork only waits for children that have all started.
func (s *Scheduler) onlyChildren(n *Node) bool {
	if n.allowed() > n.begun {
		return false
	}
	for _, c := range n.children {
		if !c.begun || c.ending != nil || s.wantsMore(c) {
			return false
		}
	}
	return true
}
