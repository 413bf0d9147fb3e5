package longtest_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/longtest"
)

// TestSwitch: one variable says how much of each test runs.
func TestSwitch(t *testing.T) {
	for value, want := range map[string]struct {
		count int
		skips bool
	}{"": {1, true}, "1": {2, false}, "all": {3, false}} {
		t.Run("EBB_TEST_LONG="+value, func(t *testing.T) {
			t.Setenv("EBB_TEST_LONG", value)
			if got := longtest.Count(1, 2, 3); got != want.count {
				t.Errorf("%d cases run; want %d", got, want.count)
			}
			s := &skipped{TB: t}
			longtest.Needs(s)
			if s.yes != want.skips {
				t.Errorf("skipped: %t; want %t", s.yes, want.skips)
			}
		})
	}
}

type skipped struct {
	testing.TB

	yes bool
}

func (*skipped) Helper() {}

func (s *skipped) Skip(...any) { s.yes = true }
