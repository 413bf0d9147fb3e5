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
	At       int // where it stands in the definition
	Errors   []string
	Interval time.Duration
	Attempts int64
	Rate     float64
	Most     time.Duration // MaxDelaySeconds; 0: only the limit of the language
	Jitter   string        // FULL, NONE or ""
}

// A Catcher is one entry of Catch.
type Catcher struct {
	At     int // where it stands in the definition
	Errors []string
	Out    Transition
	Revert *Compensation // nil: none
}

// Delay returns the delay before the n-th retry, from 1.
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

// Compensation is Ebb's addition to the language: work is undone before the machine continues, because a catcher
// asks for it or because the state runs again.

// A Compensation is the Revert of a catcher: the work that is undone before the catcher's Next.
type Compensation struct {
	Inside bool   // only the work of the state; otherwise all work of the level
	To     *State // only the work after this state; nil: all
}

// Undoes reports whether some work of the state can be undone.
func (s *State) Undoes() bool {
	return s.Revert.Reverts() || Some(s.Within(), (*State).Undoes)
}

// HasEffect reports whether the state calls a task that may have an effect.
func (s *State) HasEffect() bool {
	return s.Kind == TaskState && (s.Revert == nil || !s.Revert.None) || Some(s.Within(), (*State).HasEffect)
}

// A Revert defines how a Task state is undone. It is Ebb's addition to the language.
type Revert struct {
	Resource

	Never     bool               // the state is a pivot: nothing up to its end is undone
	None      bool               // the task has no effect, so there is nothing to undo
	Arguments expression.Payload // nil: the undo task receives the whole report
	Retry     []*Retrier         // at most one entry
}

// Reverts reports whether there is a task that undoes the state.
func (r *Revert) Reverts() bool { return r != nil && !r.Never && !r.None }

// Policy returns how often, and when, the undo task is retried.
func (r *Revert) Policy() (policy atom.RevertPolicy) {
	for _, retry := range r.Retry {
		policy.Attempts = int(min(retry.Attempts, MaxSeconds)) + 1
		policy.Backoff = atom.Backoff{
			First: retry.Interval, Rate: retry.Rate,
			Max: cmp.Or(retry.Most, MaxSeconds*time.Second),
		}
		if retry.Jitter == "FULL" {
			policy.Backoff.Jitter = 1
		}
	}
	return policy
}
