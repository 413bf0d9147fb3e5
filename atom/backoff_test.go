package atom_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		backoff atom.Backoff
		tries   int
		want    time.Duration
	}{
		"the zero backoff":     {atom.Backoff{}, 5, 0},
		"constant":             {atom.Constant(time.Second), 9, time.Second},
		"first":                {atom.Exponential(time.Second, time.Minute), 1, time.Second},
		"doubled":              {atom.Exponential(time.Second, time.Minute), 4, 8 * time.Second},
		"capped":               {atom.Exponential(time.Second, time.Minute), 40, time.Minute},
		"without limit":        {atom.Exponential(time.Second, 0), 1000, math.MaxInt64},
		"a rate below one":     {atom.Backoff{First: time.Second, Rate: 0.5}, 3, time.Second},
		"before the first try": {atom.Exponential(time.Second, 0), 0, time.Second},
		"no first wait":        {atom.Exponential(0, time.Minute), 5000, 0},
		"a negative wait":      {atom.Constant(-time.Second), 1, 0},
	} {
		if got := tc.backoff.After(tc.tries); got != tc.want {
			t.Errorf("%s: %v after %d tries, want %v", name, got, tc.tries, tc.want)
		}
	}
}

// TestBackoffRisesToItsLimit: waits never fall, are never negative, and never
// exceed the limit.
func TestBackoffRisesToItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := atom.Backoff{
			First: time.Duration(rapid.Int64().Draw(t, "first")),
			Rate:  rapid.Float64Range(0, 1e9).Draw(t, "rate"),
			Max:   time.Duration(rapid.Int64Min(0).Draw(t, "max")),
		}
		tries := rapid.IntRange(0, 5000).Draw(t, "tries")
		now, next := b.After(tries), b.After(tries+1)
		if now < 0 || next < now {
			t.Fatalf("%v after %d tries, then %v", now, tries, next)
		}
		if b.Max > 0 && next > b.Max {
			t.Fatalf("%v is above the limit", next)
		}
	})
}
