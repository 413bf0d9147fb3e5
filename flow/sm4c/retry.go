package sm4c

import (
	"math"
	"time"
)

// A retry is a retry policy.
type retry struct {
	times      int // retries, not attempts (decision 13)
	delay      time.Duration
	increment  time.Duration
	multiplier float64 // 0: none
	most       time.Duration
	capped     bool
	jitter     jitter
}

// A jitter is by how much a delay varies: a length of time, or a part of the delay.
type jitter struct {
	span time.Duration
	part float64
}

// after returns how long to wait before the kth retry, from 1.
func (r *retry) after(k int, random func() uint64) time.Duration {
	delay := float64(r.delay) + float64(k-1)*float64(r.increment)
	if r.increment == 0 {
		delay = float64(r.delay) * math.Pow(r.multiplier, float64(k-1))
	}
	if r.capped {
		delay = min(delay, float64(r.most))
	}
	if spread := float64(r.jitter.span) + r.jitter.part*delay; spread > 0 {
		delay += spread * (2*uniform(random) - 1)
	}
	if math.IsNaN(delay) {
		return 0
	}
	return time.Duration(min(max(delay, 0), float64(longestDelay)))
}

// longestDelay keeps sums of times within what they can hold.
const longestDelay = 100 * 365 * day

// uniform returns a number from 0 to 1.
func uniform(random func() uint64) float64 {
	if random == nil {
		return 0.5
	}
	return float64(random()>>11) / (1 << 53)
}
