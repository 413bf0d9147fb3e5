package scheduler

import (
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Ignored reports whether an atom was left out.
func (s *Scheduler) Ignored(a int32) bool { return s.rec[a].State == states.TaskIgnore }

// RevertFailed reports whether an atom could not be undone.
func (s *Scheduler) RevertFailed() bool {
	return slices.ContainsFunc(s.rec, func(r Record) bool { return r.State == states.TaskRevertFailure })
}

// AllFailures returns the failures that atoms hold, of executing and then of
// reverting, in the order of the plan.
func (s *Scheduler) AllFailures() []*atom.Failure {
	all := slices.Clip(s.Failures())
	for i := range s.rec {
		if f := s.rec[i].RevertFailure(); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// Final returns the value that the last provider of symbol has, else the
// input's.
func (s *Scheduler) Final(symbol string) (found atom.Value, ok bool) {
	s.plan.AllProviders(symbol, func(a int32, part atom.Provide) bool {
		if v, has := s.ValueOf(a); has {
			if of, is := part.Of(v); is {
				found, ok = of, true
			}
		}
		return true
	})
	if !ok {
		found, ok = s.input[symbol]
	}
	return found, ok
}
