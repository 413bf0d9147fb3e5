package asl

import (
	"math"
	"slices"
	"time"
)

// A retrier is one entry of Retry.
type retrier struct {
	errors   []string
	interval time.Duration
	attempts int64
	rate     float64
	most     time.Duration // MaxDelaySeconds; 0: no bound but the language's
	jitter   string        // FULL, NONE or ""
}

// A catcher is one entry of Catch.
type catcher struct {
	errors []string
	out    transition
	revert *compensation // nil: none
}

// delay returns how long to wait before the n-th retry, counted from 1.
func (r *retrier) delay(n int, random func() uint64) time.Duration {
	most := maxSeconds * time.Second
	if r.most > 0 {
		most = r.most
	}
	delay := most
	if d := float64(r.interval) * math.Pow(r.rate, float64(n-1)); d < float64(most) {
		delay = time.Duration(d)
	}
	if r.jitter == "FULL" {
		delay = time.Duration(float64(delay) * (float64(random()>>11) / (1 << 53)))
	}
	return delay
}

// matchesAny reports whether an entry of ErrorEquals is meant for the error.
func (f *stateError) matchesAny(entries []string, p Profile) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return f.matches(entry, p) })
}
