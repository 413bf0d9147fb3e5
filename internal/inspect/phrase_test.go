package inspect_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
)

// TestDurations: durations are written for people, with days from a day on, and a countdown is rounded up.
func TestDurations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		d          time.Duration
		took, left string
	}{
		{-time.Second, "0 ms", "0 s"},
		{1500 * time.Microsecond, "1 ms", "1 s"},
		{1234 * time.Millisecond, "1.2 s", "2 s"},
		{90 * time.Second, "1m30s", "1m30s"},
		{24*time.Hour - time.Second, "23h59m59s", "23h59m59s"},
		{24 * time.Hour, "1d", "1d"},
		{14*24*time.Hour - 44*time.Second, "13d23h59m", "13d23h59m"},
		{14*24*time.Hour + 3*time.Hour + 30*time.Second, "14d3h0m", "14d3h0m"},
	} {
		if took, left := inspect.FormatDuration(c.d), inspect.TimeLeft(now.Add(c.d), now); took != c.took || left != c.left {
			t.Errorf("%v: took %q, left %q; want %q and %q", c.d, took, left, c.took, c.left)
		}
	}
}
