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

// TestJitter: a jittered wait lies between what jitter leaves for sure and the
// whole wait, and falls as the random number rises.
func TestJitter(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		jitter, random float64
		want           time.Duration
	}{
		"none":                {0, 0.9, time.Minute},
		"half, luck":          {0.5, 0, time.Minute},
		"half, in the middle": {0.5, 0.5, 45 * time.Second},
		"all":                 {1, 0.75, 15 * time.Second},
		"more than all":       {7, 0.75, 15 * time.Second},
		"less than none":      {-1, 0.5, time.Minute},
		"no number":           {math.NaN(), 0.5, time.Minute},
	} {
		if got := atom.Jittered(time.Minute, tc.jitter, tc.random); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	if got := atom.Exponential(time.Second, 0).WithJitter(0.5).Jittered(3, 0.5); got != 3*time.Second {
		t.Errorf("the third wait is %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "wait"))
		jitter := rapid.Float64Range(0, 1).Draw(t, "jitter")
		random := rapid.Float64Range(0, 1-1e-9).Draw(t, "random")
		if got := atom.Jittered(d, jitter, random); got > d || d >= 0 && got < 0 {
			t.Fatalf("%v of %v", got, d)
		}
	})
}
