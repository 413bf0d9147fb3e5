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

// Exponential doubles the wait from first up to at most limit.
func Exponential(first, limit time.Duration) Backoff {
	return Backoff{First: first, Rate: 2, Max: limit}
}

// Constant waits the same time before every further try.
func Constant(d time.Duration) Backoff { return Backoff{First: d, Rate: 1} }

// After returns the wait after the given number of tries, from 1. It never
// falls as tries rise.
func (b Backoff) After(tries int) time.Duration {
	if b.First <= 0 {
		return 0
	}
	limit := time.Duration(math.MaxInt64)
	if b.Max > 0 {
		limit = b.Max
	}
	wait := float64(b.First) * math.Pow(max(b.Rate, 1), float64(max(tries-1, 0)))
	if wait >= float64(limit) {
		return limit
	}
	return min(time.Duration(wait), limit)
}
