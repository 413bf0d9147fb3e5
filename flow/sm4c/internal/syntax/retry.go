package syntax

import (
	"math"
	"time"
)

// A Retry is a retry policy.
type Retry struct {
	Times      int // number of retries, not of attempts (decision 13)
	Delay      time.Duration
	Increment  time.Duration
	Multiplier float64 // 0: none
	Most       time.Duration
	Capped     bool
	Jitter     Jitter
}

// A Jitter is by how much a delay varies: a duration, or a fraction of the delay.
type Jitter struct {
	Span time.Duration
	Part float64
}

// After returns the delay before the kth retry, from 1.
func (r *Retry) After(k int, random func() uint64) time.Duration {
	delay := float64(r.Delay) + float64(k-1)*float64(r.Increment)
	if r.Increment == 0 {
		delay = float64(r.Delay) * math.Pow(r.Multiplier, float64(k-1))
	}
	if r.Capped {
		delay = min(delay, float64(r.Most))
	}
	if spread := float64(r.Jitter.Span) + r.Jitter.Part*delay; spread > 0 {
		delay += spread * (2*uniform(random) - 1)
	}
	if math.IsNaN(delay) {
		return 0
	}
	return time.Duration(min(max(delay, 0), float64(LongestDelay)))
}

// LongestDelay limits delays, so that a sum of times does not overflow.
const LongestDelay = 100 * 365 * 24 * time.Hour

// uniform returns a random number from 0 to 1.
func uniform(random func() uint64) float64 {
	if random == nil {
		return 0.5
	}
	return float64(random()>>11) / (1 << 53)
}
