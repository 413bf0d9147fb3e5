package atom

import (
	"math"
	"time"
)

// A Backoff says how long to wait before the next try. It is data, so it can be
// stored. The zero Backoff does not wait.
type Backoff struct {
	First time.Duration // before the second try
	Rate  float64       // by what each further wait is longer; below 1 counts as 1
	Max   time.Duration // what no wait exceeds; 0 is without limit
}

// Exponential doubles the wait from first up to at most max.
func Exponential(first, max time.Duration) Backoff { return Backoff{First: first, Rate: 2, Max: max} }

// Constant waits the same time before every further try.
func Constant(d time.Duration) Backoff { return Backoff{First: d, Rate: 1} }

// After returns the wait after the given number of tries, from 1.
func (b Backoff) After(tries int) time.Duration {
	rate := max(b.Rate, 1)
	wait := float64(b.First) * math.Pow(rate, float64(max(tries-1, 0)))
	if b.Max > 0 {
		wait = min(wait, float64(b.Max))
	}
	if wait >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(wait)
}
