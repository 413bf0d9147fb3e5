package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// idle starts what is ready, or brings the run to rest.
func (s *Scheduler) idle() {
	if s.asked || s.startAt < len(s.wave) {
		return
	}
	if s.flow == states.FlowRunning && len(s.fatal) == 0 {
		s.gather()
		if len(s.wave) > 0 {
			s.startWave()
			s.runOps()
			return
		}
	}
	if s.busy > 0 {
		return
	}
	switch {
	case len(s.fatal) > 0:
		s.rest(states.FlowFailure)
	case s.flow == states.FlowRunning && s.waits > 0:
	case s.flow == states.FlowRunning && s.unfinished():
		s.fatal = append(s.fatal, &atom.Failure{Code: "Ebb.Stuck", Message: "nothing is left that could go on; this is a defect of Ebb"})
		s.rest(states.FlowFailure)
	case s.readyN > 0 || s.flow == states.FlowSuspending && s.unfinished():
		s.rest(states.FlowSuspended)
	case s.okN == len(s.rec):
		s.rest(states.FlowSuccess)
	case s.RevertFailed() || !s.undoable():
		s.rest(states.FlowFailure)
	default:
		s.rest(states.FlowReverted)
	}
}

// unfinished reports whether atoms were left in the middle of something.
func (s *Scheduler) unfinished() bool {
	return slices.ContainsFunc(s.rec, func(r Record) bool {
		return r.State == states.TaskRunning || r.State == states.TaskReverting || r.State == states.TaskRetrying
	})
}

// undoable reports whether anything that ran can be undone: otherwise a run
// that failed is a FAILURE, and there was nothing to undo.
func (s *Scheduler) undoable() bool {
	if s.root != nil {
		return s.unwound
	}
	for i := range s.rec {
		if st := s.rec[i].State; st != states.TaskPending && st != states.TaskIgnore && s.plan.Atoms[i].Reverts() {
			return true
		}
	}
	return false
}

func (s *Scheduler) rest(to states.Flow) {
	s.setFlow(to)
	c := Command{Op: Over, Atom: -1, FlowTo: s.flow, Failures: s.fatal}
	if s.root != nil {
		c.End = loadedEnd(&s.rec[0], nil)
	}
	if len(c.Failures) == 0 && to != states.FlowSuccess && to != states.FlowSuspended {
		c.Failures = s.AllFailures()
	}
	s.emit(c)
}
