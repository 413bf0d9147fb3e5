package memorybudget

import (
	"slices"
	"testing"
)

// TestShares: what runs may need together while the budget is reached is bounded, and one of them grows at any time.
func TestShares(t *testing.T) {
	t.Parallel()
	const budget = 900
	var s Shares
	judge := func(what, run string, needs int64, leaves bool, want Verdict) {
		t.Helper()
		got := s.Judge(run, needs, budget, leaves)
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
		if got == Grows {
			s.Set(run, needs)
		}
	}
	for run, needs := range map[string]int64{"a": 10, "b": 90, "c": 190} {
		s.Set(run, needs)
	}
	judge("together they need a third", "c", 200, true, Grows)
	judge("less than an equal part", "a", 100, true, Grows)
	judge("the first", "b", 110, true, Grows)
	judge("another", "c", 201, true, GivesBack)
	judge("one that cannot leave", "c", 300, false, Grows)
	judge("one that cannot leave, and is too large", "c", 301, false, IsTooLarge)
	judge("the first, beside large ones", "b", 600, true, Grows)
	judge("the first, which is too large", "b", 601, true, IsTooLarge)
	s.GiveBack("c")
	s.Leave("c")
	judge("the first, after the others have left", "b", 602, true, IsTooLarge)
	if left := s.Crowded(budget); !slices.Equal(left, []string{"c"}) {
		t.Errorf("while there is no room, %q stay away", left)
	}
	s.Leave("b")
	judge("another is the first", "a", 400, true, IsTooLarge)
	s.Leave("a")
	if left := s.Crowded(budget); len(left) > 0 {
		t.Errorf("while there is room, %q stay away", left)
	}
	s.Set("c", 500)
	s.Set("d", 500)
	judge("the first", "c", 501, true, Grows)
	s.Recover()
	judge("another, the next time", "d", 501, true, Grows)
	judge("the former one", "c", 502, true, GivesBack)
}
