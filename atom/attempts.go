package atom

import (
	"slices"
	"time"
)

// An AttemptPolicy decides after which failures the engine tries the task itself again,
// before the retries of the flows around it are asked. It is plain data and decides by the
// failure's stored code, so a resumed run decides as the original one did.
type AttemptPolicy struct {
	Attempts int      // how many attempts, the first included; flow.Compile reports less than 1
	Backoff  Backoff  // how long to wait before the next
	Codes    []string // the codes after which to try again; empty means every code but CodeCancelled
}

// Attempts allows up to n attempts of a task, the first included, with the waits
// of b in between. If codes are given, only a failure with one of them is retried;
// otherwise every failure is. An attempt whose context was cancelled is never retried. Every
// attempt carries the same [IdempotencyKey]. Ebb reverts nothing between attempts: an
// attempt finds the effects of the one before it. The wait is stored with the run, and
// continues while no process drives the run. If a crash cuts an
// attempt off, the engine repeats it; the two count as one.
//
// A failure that is not retried is the task's failure, and the retries of the flows
// around the task decide what follows. Retries themselves ignore this option.
func Attempts(n int, b Backoff, codes ...string) Option {
	return func(a *Atom) { a.attempts = &AttemptPolicy{Attempts: n, Backoff: b, Codes: codes} }
}

// Attempts returns the policy given by [Attempts], or nil: one attempt.
func (a *Atom) Attempts() *AttemptPolicy { return a.attempts }

// After reports whether another attempt follows when attempt number attempt (from 1) failed with f. It returns the wait
// before it, which [Jittered] has not shortened yet. No attempt follows a failure that is Final. The nil policy allows
// one attempt.
func (p *AttemptPolicy) After(attempt int, f *Failure) (wait time.Duration, again bool) {
	if p == nil || attempt >= p.Attempts || f.Final || !p.worthIt(f.Code) {
		return 0, false
	}
	return p.Backoff.After(attempt), true
}

func (p *AttemptPolicy) worthIt(code string) bool {
	if len(p.Codes) == 0 {
		return code != CodeCancelled
	}
	return slices.Contains(p.Codes, code)
}
