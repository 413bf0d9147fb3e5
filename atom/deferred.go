package atom

import (
	"context"
	"errors"
	"time"
)

// ErrDeferred is returned by Execute when somebody else is to end the attempt:
// whoever has its [Token], from any process, in a minute or in a month. Until
// then the atom is RUNNING and holds nothing but rows. It may be wrapped. The
// task must be [Deferrable]; others fail with it.
var ErrDeferred = errors.New("atom: the attempt is ended elsewhere")

// ErrEnded is returned by Execute, with a result, when the attempt is over though
// somebody else was to end it: a language has handed out its token, and nobody
// will use it. A mock does so.
var ErrEnded = errors.New("atom: the attempt has ended")

// Deferral bounds how long an attempt may be waited for that is ended elsewhere.
// Both times go on while no process drives the run. When one has passed, the
// token is gone and the outcome is Unknown.
type Deferral struct {
	Deadline  time.Duration // from the attempt's begin: then it fails with CodeTimeout; 0 is without limit
	Heartbeat time.Duration // since it was last heard of, or taken by a worker: then it fails with CodeHeartbeatLost; 0 is without limit
}

// Deferrable lets a task answer [ErrDeferred]. Each of its attempts has a
// [Token], which is stored before Execute is called, and with which the store
// ends the attempt, once (storage.Inbox: EndToken, Beat). An attempt that is
// called again because its process died has the token that it had. One whose
// token is used before Execute returns ends with that, whatever Execute returns.
// An Execute that returns a result, or another error, ends the attempt itself.
func Deferrable(d Deferral) Option { return func(a *Atom) { a.deferral = &d } }

// Deferral returns what was given by [Deferrable], or nil.
func (a *Atom) Deferral() *Deferral { return a.deferral }

// Token returns the token of the attempt that ctx belongs to: whoever has it may
// end the attempt. Nobody can guess it. It is "" when the task is not
// [Deferrable].
func Token(ctx context.Context) string { return CurrentCall(ctx).Token }

// Awaits returns a task that calls nobody and ends when the run is sent a signal
// of that name: a storage.Message, whose body is the result. It fails when the
// message carries a failure. A signal that came before is not lost, and one ends
// one task. The body is not looked at: what is no T fails whoever reads it. There
// is no token, so nobody can be heard of meanwhile: a Heartbeat means nothing.
func Awaits[T any](name, signal string, d Deferral, opts ...Option) *Atom {
	a := Func(name, func(context.Context, struct{}) (T, error) {
		var none T
		return none, ErrDeferred
	}, append(opts, Deferrable(d))...)
	a.signal = signal
	return a
}

// Signal returns the name of the signal that ends the task, see [Awaits]; ""
// when none does.
func (a *Atom) Signal() string { return a.signal }

// CheckResult returns an error when v, by which somebody else ends the attempt,
// cannot be a result of the task. A task that is not typed takes any.
func (a *Atom) CheckResult(v Value) error {
	if t, ok := a.body.(resultChecker); ok {
		return t.checkResult(v)
	}
	return nil
}

// resultChecker is a body that knows what its results look like.
type resultChecker interface{ checkResult(v Value) error }
