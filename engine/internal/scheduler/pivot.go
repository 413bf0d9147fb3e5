package scheduler

import "github.com/ebbflow/ebb/states"

// passed records that an atom has succeeded: if it is a pivot, the atom and all atoms before it will not be undone.
// This is not stored, because it follows from the records.
func (s *Scheduler) passed(a int32) {
	if !s.plan.Atoms[a].IsPivot() {
		return
	}
	if s.failing.kept == nil {
		s.failing.kept = make([]bool, len(s.rec))
	}
	s.failing.kept[a] = true
	walk(s.plan.Pred, func(n int32) bool {
		if b := s.plan.Nodes[n].Atom; b >= 0 {
			s.failing.kept[b] = true
		}
		return true
	}, s.plan.Atoms[a].Node)
}

// keeps reports whether a pivot keeps the atom from being undone.
func (s *Scheduler) keeps(a int32) bool { return s.failing.kept != nil && s.failing.kept[a] }

// Kept reports whether a part of the run is not undone with the rest, because of a pivot or because it should stay
// done.
func (s *Scheduler) Kept() bool { return s.failing.kept != nil || s.leftOnStack() }

// loadKept computes from the records which atoms pivots keep.
func (s *Scheduler) loadKept() {
	for i := range s.rec {
		if s.rec[i].State == states.TaskSuccess {
			s.passed(int32(i))
		}
	}
}
