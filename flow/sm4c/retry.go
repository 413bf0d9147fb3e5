package sm4c

import (
	"math"
	"time"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A retry is a retry policy.
type retry struct {
	times      int // retries, not attempts (decision 13)
	delay      time.Duration
	increment  time.Duration
	multiplier float64 // 0: none
	most       time.Duration
	capped     bool
	jitter     time.Duration
	part       float64 // jitter as a part of the delay
}

func retryOf(n *node) *retry {
	r := &retry{
		times: jsontext.Meaning[int](get(n, "maxAttempts")), delay: duration(n, "delay"), increment: duration(n, "increment"),
		multiplier: jsontext.Meaning[float64](get(n, "multiplier")), most: duration(n, "maxDelay"), capped: get(n, "maxDelay") != nil,
		jitter: duration(n, "jitter"), part: jsontext.Meaning[float64](get(n, "jitter")),
	}
	if get(n, "multiplier") == nil || get(n, "increment") != nil {
		r.multiplier = 1
	}
	return r
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
	if spread := float64(r.jitter) + r.part*delay; spread > 0 {
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
