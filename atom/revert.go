package atom

import "time"

// A RevertPolicy says how a task is undone, and what a failed revert means for the
// run. The zero policy is TaskFlow's: one attempt without a time limit; when it
// fails, the rest is not undone.
type RevertPolicy struct {
	Attempts int           // of one revert, the first included; below 1 counts as 1
	Backoff  Backoff       // how long to wait before the next
	Timeout  time.Duration // how long one attempt may take; 0 is without limit
	Then     RevertEnd     // what follows when all attempts have failed
}

// RevertEnd says what follows when a revert has failed for good.
type RevertEnd uint8

// What may follow.
const (
	StopUndoing RevertEnd = iota // the rest is not undone; the run ends with its undo failed
	GoOnUndoing                  // the rest is undone all the same; the run ends with its undo failed
	Park                         // the run is suspended until an operator sends a command, see engine.RetryRevert and engine.Skip
)

// String returns "stop", "go on" or "park".
func (e RevertEnd) String() string {
	return [...]string{StopUndoing: "stop", GoOnUndoing: "go on", Park: "park"}[e]
}

// RevertAttempts lets Revert be tried up to n times, the first included, waiting
// in between as b says. All attempts carry the same [RevertKey].
func RevertAttempts(n int, b Backoff) Option {
	return func(a *Atom) { a.revert.Attempts, a.revert.Backoff = n, b }
}

// RevertTimeout limits one attempt of Revert. When it passes, the attempt's
// context ends and the attempt fails with [CodeTimeout]. No other limit applies
// to reverts. The default is no limit, because a half-finished undo is worth waiting for.
func RevertTimeout(d time.Duration) Option { return func(a *Atom) { a.revert.Timeout = d } }

// IfRevertFails says what follows when Revert has failed for good. The default
// is [StopUndoing].
func IfRevertFails(then RevertEnd) Option { return func(a *Atom) { a.revert.Then = then } }

// RevertPolicy returns how the atom is undone.
func (a *Atom) RevertPolicy() RevertPolicy { return a.revert }

// After returns whether another attempt follows on the given one, from 1, which
// failed with f, and how long to wait for it, before [Jittered] shortens the
// wait. A cancelled attempt is not retried.
func (p RevertPolicy) After(attempt int, f *Failure) (wait time.Duration, again bool) {
	return (&AttemptPolicy{Attempts: p.Attempts, Backoff: p.Backoff}).After(attempt, f)
}

// Pivot makes the task a point of no return. Once it has succeeded, neither the task
// nor the atoms on which it depends, directly or not, are undone, whatever fails and
// whatever an operator commands later. Atoms after it or beside it are undone. A run
// that fails then ends FAILURE, partly undone. A retry cannot go back before the task.
// Until the task has succeeded, every atom is undone as usual.
func Pivot() Option { return func(a *Atom) { a.pivot = true } }

// IsPivot reports whether the atom is a point of no return, see [Pivot].
func (a *Atom) IsPivot() bool { return a.pivot }
