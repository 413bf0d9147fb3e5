package syntax

import (
	"cmp"
	"math"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
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

// Compensation is Ebb's addition to the language: what was done is undone before
// the machine goes on, because a catcher says so, or because it is done again.

// A Compensation is the Revert of a catcher: the work that the catcher has undone first.
type Compensation struct {
	Inside bool   // what the state did; otherwise all that the level did
	To     *State // but only what came after this state; nil: all
}

// Undoes reports whether some of the state's work can be undone.
func (s *State) Undoes() bool {
	return s.Revert != nil && !s.Revert.Never || Some(s.Within(), (*State).Undoes)
}

// A Revert says how a Task state is undone: Ebb's addition to the language.
type Revert struct {
	Resource

	Never     bool               // it is a point of no return: nothing to its end is undone
	Arguments expression.Payload // nil: the undo task is given the whole report
	Retry     []*Retrier         // one at most
}

// Policy returns how often, and when, the undo task is tried again.
func (r *Revert) Policy() (policy atom.RevertPolicy) {
	for _, retry := range r.Retry {
		policy.Attempts = int(min(retry.Attempts, MaxSeconds)) + 1
		policy.Backoff = atom.Backoff{First: retry.Interval, Rate: retry.Rate, Max: cmp.Or(retry.Most, MaxSeconds*time.Second)}
		if retry.Jitter == "FULL" {
			policy.Backoff.Jitter = 1
		}
	}
	return policy
}
