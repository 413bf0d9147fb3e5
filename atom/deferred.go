package atom

import (
	"context"
	"errors"
	"time"
)

// ErrDeferred is the error that Execute returns if another party is to end the attempt: the holder of its [Token], from
// any process, in a minute or in a month. Until then the atom is RUNNING and holds only rows. The error may be wrapped.
// The task must be [Deferrable]; other tasks fail with the error.
var ErrDeferred = errors.New("atom: the attempt is ended elsewhere")

// ErrEnded is returned by Execute, with a result, if the attempt is over although
// another party was to end it. A language has handed out the token, and it will not
// be used. A mock returns it.
var ErrEnded = errors.New("atom: the attempt has ended")

// Deferral bounds how long a run waits for an attempt that another party ends.
// Both times continue while no process drives the run. When one has passed, the
// token is gone and the outcome is Unknown.
type Deferral struct {
	// Deadline limits the time since the attempt began: then it fails with CodeTimeout. 0 is without limit.
	Deadline time.Duration
	// Heartbeat limits the time since the last heartbeat, or since a worker took the attempt: then it fails
	// with CodeHeartbeatLost. 0 is without limit.
	Heartbeat time.Duration
}

// Deferrable lets a task answer [ErrDeferred]. Each of its attempts has a
// [Token], which is stored before Execute is called, and with which engine.EndToken
// ends the attempt, once. If a process
// dies and Execute is called again for the same attempt, the token is the same. If the
// token is used before Execute returns, the attempt ends with that, whatever Execute returns.
// An Execute that returns a result, or another error, ends the attempt itself.
func Deferrable(d Deferral) Option { return func(a *Atom) { a.deferral = &d } }

// Deferral returns the Deferral that [Deferrable] set, or nil.
func (a *Atom) Deferral() *Deferral { return a.deferral }

// Token returns the token of the attempt that ctx belongs to. Its holder may end the
// attempt. The token cannot be guessed. If the task is not [Deferrable], Token
// returns "".
func Token(ctx context.Context) string { return CurrentCall(ctx).Token }

// Awaits returns a task that calls nothing and ends when the run receives a signal of that name, see engine.Signal. Its
// value is the result. If the storage.Message of the signal has a failure, the task fails. A signal that came before
// is not lost, and one signal ends one task. The store refuses a signal whose body is not a T, or lacks a member that
// each T encodes. If only the code of T can tell, the signal stays in the inbox, and the task waits. There is no token,
// so a Heartbeat has no effect.
func Awaits[T any](name, signal string, d Deferral, opts ...Option) *Atom {
	a := Func(name, func(context.Context, struct{}) (T, error) {
		var none T
		return none, ErrDeferred
	}, append(opts, Deferrable(d))...)
	a.signal, a.awaits, a.noEffect = signal, true, true
	return a
}

// Signal returns the name of the signal that ends the task, see [Awaits]; ""
// when none does.
func (a *Atom) Signal() string { return a.signal }

// CheckResult returns an error if v, with which another party ends the attempt,
// cannot be a result of the task. A task that is not typed takes any.
func (a *Atom) CheckResult(v Value) error {
	if t, ok := a.body.(resultChecker); ok {
		return t.checkResult(v)
	}
	return nil
}

// resultChecker is a body that knows what its results look like.
type resultChecker interface{ checkResult(v Value) error }
