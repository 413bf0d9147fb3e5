package atom

import (
	"context"
	"errors"
	"time"
)

// A Queued body may leave its calls to workers: processes of any kind and language
// that ask for work, see engine.TakeWork. Ebb does not make such a call. The call waits, as
// rows, until a worker takes it and reports how it ended. If a worker takes a call and
// dies, its lease runs out, and another worker is given the same call.
type Queued interface {
	Body
	// Queue returns the kind of work that a call is, "" when Execute or Revert is to
	// be called after all. It is asked once for each call, and does no I/O.
	Queue(c *Call) string
}

// Work returns the body whose calls, and whose reverts, are work of that kind for
// workers. A worker receives the one unnamed argument, or else an object of all
// arguments.
func Work(kind string) Body { return work{kind} }

type work struct{ kind string }

var errNotHere = errors.New("atom: this is the work of a worker, and cannot be called from within another task")

func (work) Execute(context.Context, Values) (Value, error) { return nil, errNotHere }
func (work) Revert(context.Context, Values, Outcome[Value]) (Value, error) {
	return nil, errNotHere
}
func (work) Reverts() bool          { return true }
func (w work) Queue(_ *Call) string { return w.kind }

// Remote returns a task that is work of that kind for workers, and cannot be
// undone. It is typed as those of [Task] are; a result that is no Out fails it.
// [Timeout] limits an attempt from when it begins to wait for a worker,
// [ScheduleToStart] that wait and [StartToClose] the work; a Heartbeat of
// [Deferrable] counts from when a worker has taken it.
func Remote[In, Out any](name, kind string, opts ...Option) *Atom {
	return newTyped(name, &typed[In, Out]{task: external[In, Out]{do: kind}}, opts)
}

// RemotePair is [Remote] with an undo, which is work of the kind undo. It may be
// the same kind: a worker is told that it reverts, and how the execution that it
// undoes ended.
func RemotePair[In, Out any](name, kind, undo string, opts ...Option) *Atom {
	e := external[In, Out]{do: kind, undo: undo}
	return newTyped(name, &typed[In, Out]{task: e, reverter: e}, opts)
}

// external is the task of an atom whose work a worker does.
type external[In, Out any] struct{ do, undo string }

func (external[In, Out]) Execute(context.Context, In) (out Out, err error) { return out, errNotHere }
func (external[In, Out]) Revert(context.Context, In, Outcome[Out]) error   { return errNotHere }

func (e external[In, Out]) queue(c *Call) string {
	if c.Revert {
		return e.undo
	}
	return e.do
}

// Queue implements [Queued]: a typed task is work when it was made by [Remote].
func (t *typed[In, Out]) Queue(c *Call) string {
	if q, ok := t.task.(interface{ queue(c *Call) string }); ok {
		return q.queue(c)
	}
	return ""
}

// ScheduleToStart limits how long the work of one attempt of Execute waits for a
// worker to take it, for a task made by [Remote] or [RemotePair]. Then the attempt
// fails with [CodeScheduleToStart]; no worker has begun it. Only the first worker is
// waited for: work that one has lost goes to the next within the limits that there
// are else. The default is no limit.
func ScheduleToStart(d time.Duration) Option { return func(a *Atom) { a.toStart = d } }

// StartToClose limits how long a worker takes from when it has taken the work of an
// attempt of Execute, whether it is heard of or not. Then the attempt fails with
// [CodeStartToClose], and its outcome is Unknown. When the worker's lease has run out
// and another has taken the work, that one has all of this time. The default is no
// limit.
func StartToClose(d time.Duration) Option { return func(a *Atom) { a.toClose = d } }

// ScheduleToStart returns the limit of [ScheduleToStart]; 0 is none.
func (a *Atom) ScheduleToStart() time.Duration { return a.toStart }

// StartToClose returns the limit of [StartToClose]; 0 is none.
func (a *Atom) StartToClose() time.Duration { return a.toClose }
