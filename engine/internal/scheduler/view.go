package scheduler

import (
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Ignored reports whether a decider left the atom out.
func (s *Scheduler) Ignored(a int32) bool { return s.units[a].Rec.State == states.TaskIgnore }

// anyIn reports whether an atom of the plan is in one of the states.
func (s *Scheduler) anyIn(of ...states.Task) bool {
	for i := range s.units {
		if slices.Contains(of, s.units[i].Rec.State) {
			return true
		}
	}
	return false
}

// RevertFailed reports whether the revert of an atom failed.
func (s *Scheduler) RevertFailed() bool {
	return s.anyIn(states.TaskRevertFailure)
}

// PartlyUndone reports whether a run was already being undone when it was abandoned.
func (s *Scheduler) PartlyUndone() bool {
	return s.stopReason.halted &&
		(s.undoStack.unwound ||
			s.anyIn(states.TaskReverted))
}

// SetInput replaces some of the inputs, and returns the new input. An atom sees the new values from its next call
// on.
func (s *Scheduler) SetInput(changed map[string]atom.Value) (atom.Value, error) {
	input := maps.Clone(s.input)
	maps.Copy(input, changed)
	whole, err := atom.Encode(input)
	if err == nil {
		s.input, s.whole = input, whole
	}
	return whole, err
}

// AllFailures returns the failures of atoms, first of executions and then of reverts, in the order of the plan.
func (s *Scheduler) AllFailures() []*atom.Failure {
	return append(slices.Clip(s.Failures()), s.revertFailures()...)
}

// revertFailures returns the failures of reverts, in the order of the plan.
func (s *Scheduler) revertFailures() []*atom.Failure {
	var all []*atom.Failure
	for i := range s.units {
		if f := s.units[i].Rec.RevertFailure(); f != nil {
			all = append(all, f)
		}
	}
	return all
}

// Finals returns the values of all symbols, as Final does.
func (s *Scheduler) Finals() map[string]atom.Value {
	all := maps.Clone(s.input)
	if all == nil {
		all = map[string]atom.Value{}
	}
	for symbol := range s.plan.Symbols {
		if v, ok := s.Final(symbol); ok {
			all[symbol] = v
		}
	}
	return all
}

// Final returns the value of the last atom that provides the symbol, else the value in the input.
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
