package atom

import (
	"context"
	"errors"
)

// A Queued body may leave its calls to workers: processes of any kind and language
// that ask for work, see engine.TakeWork. Such a call is not made; it waits, as
// rows, until a worker has taken it and has said how it ended. Who takes it and
// dies is noticed when his lease runs out: then another is given the same call.
type Queued interface {
	Body
	// Queue returns the kind of work that a call is, "" when Execute or Revert is to
	// be called after all. It is asked once for each call, and does no I/O.
	Queue(c *Call) string
}

// Work returns the body whose calls, and whose reverts, are work of that kind for
// workers. What a worker is given is the one unnamed argument, or else an object of
// all arguments.
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
// [Timeout] limits an attempt from when it begins to wait for a worker, and
// [Deferrable] may set a Heartbeat.
func Remote[In, Out any](name, kind string, opts ...Option) *Atom {
	return newTyped(name, &typed[In, Out]{task: elsewhere[In, Out]{do: kind}}, opts)
}

// RemotePair is [Remote] with an undo, which is work of the kind undo. It may be
// the same kind: a worker is told that it reverts, and what became of what is
// undone.
func RemotePair[In, Out any](name, kind, undo string, opts ...Option) *Atom {
	e := elsewhere[In, Out]{do: kind, undo: undo}
	return newTyped(name, &typed[In, Out]{task: e, reverter: e}, opts)
}

// elsewhere is what stands in a typed task for those who do its work.
type elsewhere[In, Out any] struct{ do, undo string }

func (elsewhere[In, Out]) Execute(context.Context, In) (out Out, err error) { return out, errNotHere }
func (elsewhere[In, Out]) Revert(context.Context, In, Outcome[Out]) error   { return errNotHere }

func (e elsewhere[In, Out]) queue(c *Call) string {
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
