package memorybudget

import "sync"

// Shares are what the runs of a process need of its memory, as far as that is known. Together they may grow while the
// budget is not reached. While it is, one of them grows, and the others that are large give their places back. Any
// goroutine may use them. The zero Shares are of no runs.
type Shares struct {
	mu    sync.Mutex
	needs map[string]int64 // of the runs in memory, in bytes
	left  map[string]int64 // of those that have given their places back
	total int64            // of the runs in memory
	first string           // the run that grows while the budget is reached; "" for none
}

// A Verdict says what a run that would grow while the budget is reached does.
type Verdict int

// The verdicts.
const (
	Grows     Verdict = iota
	GivesBack         // it leaves, and comes back when there is space
	IsTooLarge
)

// Set sets what a run needs.
func (s *Shares) Set(run string, needs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.needs == nil {
		s.needs, s.left = map[string]int64{}, map[string]int64{}
	}
	s.total += needs - s.needs[run]
	s.needs[run] = needs
	delete(s.left, run)
}

// GiveBack says that a run is about to leave, and comes back.
func (s *Shares) GiveBack(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[run] = s.needs[run]
}

// Leave says that a run is no longer in memory.
func (s *Shares) Leave(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= s.needs[run]
	delete(s.needs, run)
	if s.first == run {
		s.first = ""
	}
}

// Recover says that the budget is not reached: every run may grow.
func (s *Shares) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = ""
}

// Judge says what a run does that would grow to need that much while a budget is reached. Not every run can leave.
//
// Runs that together need less than a third of the budget are not the reason that it is reached, and neither is one
// that needs less than an equal part of that third. So what keeps growing is bounded: a third for the small runs, and
// what the first of the others needs. That one is too large if it needs a third after the others have left, or two
// thirds beside them.
func (s *Shares) Judge(run string, needs, budget int64, leaves bool) Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	third, others := budget/3, s.total-s.needs[run] //nolint:mnd // as described
	if others+needs <= third || needs*int64(len(s.needs)) <= third {
		return Grows
	}
	if s.first == "" && leaves {
		s.first = run
	}
	switch {
	case leaves && s.first != run:
		return GivesBack
	case needs > third && (others <= third || !leaves), needs > 2*third:
		return IsTooLarge
	default:
		return Grows
	}
}

// Crowded returns the runs that must not come back yet: with what they need, the runs would need more than half of the
// budget. If no run is in memory, at least one may come back.
func (s *Shares) Crowded(budget int64) (runs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	total := s.total
	for run, needs := range s.left {
		if total > 0 && total+needs > budget/2 {
			runs = append(runs, run)
			continue
		}
		total += needs
		delete(s.left, run)
	}
	return runs
}
