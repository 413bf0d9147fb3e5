package scheduler

import "github.com/ebbflow/ebb/states"

// passed records that an atom has succeeded: if it is a pivot, the atom and all atoms before it will not be undone.
// This is not stored, because it follows from the records.
func (s *Scheduler) passed(u *Unit) {
	if !u.Planned.IsPivot() {
		return
	}
	if s.failing.kept == nil {
		s.failing.kept = make([]bool, len(s.units))
	}
	s.failing.kept[u.Index] = true
	walk(s.plan.Pred, func(n int32) bool {
		if b := s.plan.Nodes[n].Atom; b >= 0 {
			s.failing.kept[b] = true
		}
		return true
	}, u.Planned.Node)
}

// keeps reports whether a pivot keeps the atom from being undone.
func (s *Scheduler) keeps(u *Unit) bool { return s.failing.kept != nil && s.failing.kept[u.Index] }

// Kept reports whether a part of the run is not undone with the rest, because of a pivot or because it should stay
// done.
func (s *Scheduler) Kept() bool { return s.failing.kept != nil || s.leftOnStack() }

// loadKept computes from the records which atoms pivots keep.
func (s *Scheduler) loadKept() {
	for i := range s.units {
		if s.units[i].Rec.State == states.TaskSuccess {
			s.passed(&s.units[i])
		}
	}
}
