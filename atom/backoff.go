package atom

import (
	"fmt"
	"math"
	"time"
)

// A Backoff says how long to wait before the next try. It is data, so it can be
// stored. The zero Backoff does not wait.
type Backoff struct {
	First time.Duration // before the second try
	Rate  float64       // factor by which each further wait grows; below 1 counts as 1
	Max   time.Duration // longest wait; 0 is without limit
	// Jitter is the part of each wait that is random, from 0 to 1. A wait of w becomes one between w*(1-Jitter) and w.
	// So atoms that failed together are not retried together.
	Jitter float64
}

// Exponential doubles the wait from first up to at most limit.
func Exponential(first, limit time.Duration) Backoff {
	return Backoff{First: first, Rate: 2, Max: limit}
}

// Constant waits the same time before every further try.
func Constant(d time.Duration) Backoff { return Backoff{First: d, Rate: 1} }

// WithJitter returns a copy of b in which part of each wait, from 0 to 1, is random.
func (b Backoff) WithJitter(part float64) Backoff {
	b.Jitter = part
	return b
}

// After returns the wait after the given number of tries, from 1, before
// jitter shortens it. It never falls as tries rise.
func (b Backoff) After(tries int) time.Duration {
	if b.First <= 0 {
		return 0
	}
	limit := time.Duration(math.MaxInt64)
	if b.Max > 0 {
		limit = b.Max
	}
	rate := b.Rate
	if !(rate > 1) { // also if it is NaN
		rate = 1
	}
	wait := float64(b.First) * math.Pow(rate, float64(max(tries-1, 0)))
	if wait >= float64(limit) {
		return limit
	}
	return min(time.Duration(wait), limit)
}

// mistake says what is wrong with the backoff; "" if nothing is.
func (b Backoff) mistake() string {
	switch {
	case b.First < 0 || b.Max < 0:
		return fmt.Sprintf("a wait of %v, up to %v; want positive durations", b.First, b.Max)
	case math.IsNaN(b.Rate), math.IsNaN(b.Jitter):
		return fmt.Sprintf("a rate of %v and a jitter of %v; want numbers", b.Rate, b.Jitter)
	default:
		return ""
	}
}

// Jittered returns the wait after the given number of tries. The caller draws random
// from [0, 1).
func (b Backoff) Jittered(tries int, random float64) time.Duration {
	return Jittered(b.After(tries), b.Jitter, random)
}

// Jittered shortens the wait d by a random amount: the result lies between
// d*(1-jitter) and d. The caller draws random from [0, 1). A jitter below 0 counts
// as 0, and one above 1 as 1.
func Jittered(d time.Duration, jitter, random float64) time.Duration {
	if d <= 0 || !(jitter > 0) { // also if jitter is NaN
		return d
	}
	return d - time.Duration(float64(d)*min(jitter, 1)*random)
}
