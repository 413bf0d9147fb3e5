package syntax

import (
	"math"
	"time"
)

// A Retrier is one entry of Retry.
type Retrier struct {
	Errors   []string
	Interval time.Duration
	Attempts int64
	Rate     float64
	Most     time.Duration // MaxDelaySeconds; 0: no bound but the language's
	Jitter   string        // FULL, NONE or ""
}

// A Catcher is one entry of Catch.
type Catcher struct {
	Errors []string
	Out    Transition
	Revert *Compensation // nil: none
}

// Delay returns how long to wait before the n-th retry, counted from 1.
func (r *Retrier) Delay(n int, random func() uint64) time.Duration {
	most := MaxSeconds * time.Second
	if r.Most > 0 {
		most = r.Most
	}
	delay := most
	if d := float64(r.Interval) * math.Pow(r.Rate, float64(n-1)); d < float64(most) {
		delay = time.Duration(d)
	}
	if r.Jitter == "FULL" {
		delay = time.Duration(float64(delay) * (float64(random()>>11) / (1 << 53)))
	}
	return delay
}
