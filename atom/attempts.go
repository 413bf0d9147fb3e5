package atom

import (
	"slices"
	"time"
)

// An AttemptPolicy says which failures of a task are worth another attempt of
// that task alone, before anything around it hears of them. It is data and
// decides by a failure's stored code, so a resumed run decides as the live one.
type AttemptPolicy struct {
	Attempts int      // in all, the first included; below 1 counts as 1
	Backoff  Backoff  // how long to wait before the next
	Codes    []string // the codes that are worth another; none is every code but CodeCancelled
}

// Attempts lets a task be tried up to n times in all, the first included,
// waiting in between as b says. With codes, only failures of these codes are
// worth another attempt; without, all are. A cancelled attempt is never retried. Every
// attempt carries the same [IdempotencyKey]. Ebb reverts nothing between attempts: an
// attempt finds the effects of the one before it. The wait is stored with the run, and
// continues while no process drives the run. An attempt that a crash cut off is made
// again and counts once.
//
// A failure that is not worth another attempt is the task's failure, about which
// the retries around it decide. Retries themselves ignore this option.
func Attempts(n int, b Backoff, codes ...string) Option {
	return func(a *Atom) { a.attempts = &AttemptPolicy{Attempts: n, Backoff: b, Codes: codes} }
}

// Attempts returns the policy given by [Attempts], or nil: one attempt.
func (a *Atom) Attempts() *AttemptPolicy { return a.attempts }

// After returns whether the failure f of the given attempt, from 1, is worth
// another attempt, which none that is Final is, and how long to wait for it, before [Jittered] shortens the
// wait. The nil policy allows one attempt.
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
