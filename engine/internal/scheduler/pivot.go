package scheduler

import "github.com/ebbflow/ebb/states"

// passed notes that an atom has succeeded: if it is a point of no return, it and
// all before it are kept from being undone. Nothing is written about that: it
// follows from the records.
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

// keeps reports whether an atom is kept from being undone.
func (s *Scheduler) keeps(a int32) bool { return s.failing.kept != nil && s.failing.kept[a] }

// Kept reports whether something that was done is not undone with the rest:
// because a point of no return was passed, or it was to stay.
func (s *Scheduler) Kept() bool { return s.failing.kept != nil || s.leftOnStack() }

// loadKept derives what is kept from the records.
func (s *Scheduler) loadKept() {
	for i := range s.rec {
		if s.rec[i].State == states.TaskSuccess {
			s.passed(int32(i))
		}
	}
}
