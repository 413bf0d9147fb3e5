package atom

import (
	"context"
	"errors"
	"time"
)

// A Queued body may leave its calls to workers, which are processes in any language
// that poll for work, see engine.TakeWork. Ebb does not make such a call. The call waits, as
// rows, until a worker takes it and reports how it ended. If a worker takes a call and
// dies, its lease expires, and another worker gets the same call.
type Queued interface {
	Body
	// Queue returns the kind of work that the call is, or "" if the engine must call
	// Execute or Revert itself. The engine calls Queue once per call. It must do no I/O.
	Queue(c *Call) string
}

// Work returns the body whose calls, and whose reverts, are work of that kind for
// workers. A worker receives the one unnamed argument, or else an object of all
// arguments.
func Work(kind string) Body { return work{kind} }

// work is the body of a task that only workers do. So each call within this process fails.
type work struct{ kind string }

var errNotHere = errors.New("atom: this is the work of a worker, and cannot be called from within another task")

func (work) Execute(context.Context, Values) (Value, error) { return nil, errNotHere }
func (work) Revert(context.Context, Values, Outcome[Value]) (Value, error) {
	return nil, errNotHere
}
func (work) Reverts() bool { return true }

// Queue implements [Queued].
func (w work) Queue(_ *Call) string { return w.kind }

// Remote returns a task that is work of that kind for workers, and cannot be undone. It has types like a task of
// [Task]. A worker's result that is not an Out is refused, and the worker may give another. [Timeout] limits the whole
// attempt, [ScheduleToStart] the wait for a worker, and [StartToClose] the work. A Heartbeat of [Deferrable] begins
// when a worker has taken the work.
func Remote[In, Out any](name, kind string, opts ...Option) *Atom {
	return newRemote(name, &typed[In, Out]{task: external[In, Out]{}}, kind, "", opts)
}

// RemotePair is [Remote] with an undo, which is work of the kind undo. It may be
// the same kind: the worker learns that the call is a revert, and the outcome of the
// execution to undo.
func RemotePair[In, Out any](name, kind, undo string, opts ...Option) *Atom {
	e := external[In, Out]{}
	return newRemote(name, &typed[In, Out]{task: e, reverter: e}, kind, undo, opts)
}

func newRemote[In, Out any](name string, body *typed[In, Out], do, undo string, opts []Option) *Atom {
	queued := func(a *Atom) { a.body = typedWork[In, Out]{body, do, undo} }
	return newTyped(name, body, append([]Option{queued}, opts...))
}

// external is the task of an atom whose work a worker does. So each call within this process fails.
type external[In, Out any] struct{}

func (external[In, Out]) Execute(context.Context, In) (out Out, err error) { return out, errNotHere }
func (external[In, Out]) Revert(context.Context, In, Outcome[Out]) error   { return errNotHere }

// typedWork is the Body of a typed task that is work of the kinds do and undo.
type typedWork[In, Out any] struct {
	*typed[In, Out]

	do, undo string
}

// Queue implements [Queued].
func (w typedWork[In, Out]) Queue(c *Call) string {
	if c.Revert {
		return w.undo
	}
	return w.do
}

// ScheduleToStart limits how long the work of one attempt of Execute waits for a worker. It is for tasks made by
// [Remote] or [RemotePair]. Then the attempt fails with [CodeScheduleToStart]. If no worker took an earlier attempt
// either, nothing was done, and nothing is undone, see [Failure.Untaken]. The limit applies until the first worker
// takes the work. If that worker is lost, only the other limits apply until the next one takes it. The default is no
// limit.
//
//limit:workers wait of work for a worker (`atom.ScheduleToStart`) | none* | `Ebb.ScheduleToStart`
func ScheduleToStart(d time.Duration) Option { return func(a *Atom) { a.toStart = d } }

// StartToClose limits how long a worker may take for an attempt of Execute after it took
// the work, whether or not it sends heartbeats. Then the attempt fails with
// [CodeStartToClose], and its outcome is Unknown. If the worker's lease expires and
// another worker takes the work, that worker has the full time. The default is no
// limit.
//
//limit:workers time of a worker for an attempt (`atom.StartToClose`) | none* | `Ebb.StartToClose`
func StartToClose(d time.Duration) Option { return func(a *Atom) { a.toClose = d } }

// ScheduleToStart returns the limit of [ScheduleToStart]; 0 is none.
func (a *Atom) ScheduleToStart() time.Duration { return a.toStart }

// StartToClose returns the limit of [StartToClose]; 0 is none.
func (a *Atom) StartToClose() time.Duration { return a.toClose }
