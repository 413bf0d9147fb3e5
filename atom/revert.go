package atom

import "time"

// A RevertPolicy says how a task is undone, and what a failed revert means for the
// run. The zero policy is TaskFlow's: one attempt without a time limit; when it
// fails, the rest is not undone.
type RevertPolicy struct {
	Attempts int           // how many attempts of the revert, the first included; below 1 counts as 1
	Backoff  Backoff       // how long to wait before the next
	Timeout  time.Duration // how long one attempt may take; 0 is without limit
	Then     RevertEnd     // what follows when all attempts have failed
}

// RevertEnd is what follows when all attempts of a revert have failed, see [IfRevertFails].
type RevertEnd uint8

// What may follow when all attempts of a revert have failed.
const (
	StopUndoing RevertEnd = iota // the rest is not undone; the run ends with its undo failed
	GoOnUndoing                  // the rest is undone nevertheless; the run ends with its undo failed
	// Park: the run is suspended until an operator sends a command, see engine.RetryRevert and engine.Skip.
	Park
)

// String returns "stop", "go on" or "park".
func (e RevertEnd) String() string {
	return [...]string{StopUndoing: "stop", GoOnUndoing: "go on", Park: "park"}[e]
}

// RevertAttempts allows up to n attempts of Revert, the first included, with the waits
// of b in between. All attempts carry the same [RevertKey].
func RevertAttempts(n int, b Backoff) Option {
	return func(a *Atom) { a.revert.Attempts, a.revert.Backoff = n, b }
}

// RevertTimeout limits one attempt of Revert. When it passes, the attempt's
// context ends and the attempt fails with [CodeTimeout]. No other limit applies
// to reverts. The default is no limit, because a half-finished undo is worth waiting for.
func RevertTimeout(d time.Duration) Option { return func(a *Atom) { a.revert.Timeout = d } }

// IfRevertFails sets what follows when all attempts of Revert have failed. The default
// is [StopUndoing].
func IfRevertFails(then RevertEnd) Option { return func(a *Atom) { a.revert.Then = then } }

// RevertPolicy returns how the atom is undone.
func (a *Atom) RevertPolicy() RevertPolicy { return a.revert }

// After reports whether another attempt follows when attempt number attempt (from 1) failed with f. It returns the wait
// before it, which [Jittered] has not shortened yet. A cancelled attempt is not retried.
func (p RevertPolicy) After(attempt int, f *Failure) (wait time.Duration, again bool) {
	return (&AttemptPolicy{Attempts: p.Attempts, Backoff: p.Backoff}).After(attempt, f)
}

// Pivot makes the task a point of no return. Once it has succeeded, neither the task nor the atoms on which it depends
// are undone, directly or indirectly. No later failure and no operator's command changes that. Atoms after it or beside
// it are undone. A run that fails then ends FAILURE, partly undone. A retry cannot go back before the task. Until the
// task has succeeded, every atom is undone as usual.
func Pivot() Option { return func(a *Atom) { a.pivot = true } }

// IsPivot reports whether the atom is a point of no return, see [Pivot].
func (a *Atom) IsPivot() bool { return a.pivot }
