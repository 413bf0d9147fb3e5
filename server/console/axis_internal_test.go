package console

import (
	"slices"
	"testing"
	"time"
)

// TestAxis: the marks of a chart are round times, a few, and none lies in a time that is cut.
func TestAxis(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC)
	for took, want := range map[time.Duration][]time.Duration{
		0:                     {0},
		3 * time.Second:       {0, time.Second, 2 * time.Second, 3 * time.Second},
		90 * time.Minute:      {0, 30 * time.Minute, time.Hour, 90 * time.Minute},
		24 * 100 * time.Hour:  {0, 408 * time.Hour, 816 * time.Hour, 1224 * time.Hour, 1632 * time.Hour, 2040 * time.Hour},
		150 * time.Nanosecond: {0},
	} {
		s := scale{began: start, ended: start.Add(took)}
		if got := s.ticks(); !slices.Equal(got, want) {
			t.Errorf("%v: marks at %v, want %v", took, got, want)
		}
	}
	s := scale{began: start, ended: start.Add(9 * time.Second)}
	s.cuts = []gap{{start.Add(time.Second), start.Add(7 * time.Second)}}
	if got, want := s.ticks(), []time.Duration{0, 8 * time.Second}; !slices.Equal(got, want) {
		t.Errorf("marks at %v, want %v", got, want)
	}
}
