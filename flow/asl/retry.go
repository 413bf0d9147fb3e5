package asl

import (
	"math"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// A retrier is one entry of Retry.
type retrier struct {
	errors   []string
	interval time.Duration
	attempts int64
	rate     float64
	most     time.Duration // MaxDelaySeconds; 0: no bound but the language's
	jitter   bool
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
	if r.jitter {
		delay = time.Duration(float64(delay) * (float64(random()>>11) / (1 << 53)))
	}
	return delay
}

// matchesAny reports whether an entry of ErrorEquals is meant for the error.
func (f *stateError) matchesAny(entries []string, p Profile) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return f.matches(entry, p) })
}

// retriersOf compiles Retry.
func retriersOf(o *node) []retrier {
	var out []retrier
	for _, n := range o.List("Retry") {
		r := retrier{
			errors:   textsOf(n.Get("ErrorEquals")),
			interval: time.Second, attempts: 3, rate: 2,
			most:   time.Duration(jsontext.Meaning[int64](n.Get("MaxDelaySeconds"))) * time.Second,
			jitter: isText(n.Get("JitterStrategy"), "FULL"),
		}
		if v := n.Get("IntervalSeconds"); v != nil {
			r.interval = time.Duration(jsontext.Meaning[int64](v)) * time.Second
		}
		if v := n.Get("MaxAttempts"); v != nil {
			r.attempts = jsontext.Meaning[int64](v)
		}
		if v := n.Get("BackoffRate"); v != nil {
			r.rate = jsontext.Meaning[float64](v)
		}
		out = append(out, r)
	}
	return out
}

// catchers compiles Catch.
func (s *state) catchers() []catcher {
	var out []catcher
	for _, n := range s.source.List("Catch") {
		k := catcher{errors: textsOf(n.Get("ErrorEquals")), out: s.transition(n, "Next")}
		k.out.as = "errorOutput"
		k.revert = s.compensationOf(n.Get("Revert"))
		out = append(out, k)
	}
	return out
}
