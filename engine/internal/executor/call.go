package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/states"
)

// ErrStopped is the cause with which the contexts of calls end when the process must stop.
var ErrStopped = errors.New("engine: stopped; run it again to resume the run")

// A Call is one Execute or Revert. After it was dispatched, the goroutine that makes it may use only fields that do
// not change.
type Call struct {
	Unit    *scheduler.Unit // what is executed or reverted
	Values  atom.Values
	Detail  *scheduler.Detail // set for a revert and for a retry; nil otherwise
	Number  int64             // distinguishes the attempts of an incarnation
	State   states.Task       // state of the atom during the attempt
	Body    atom.Body
	Work    string // kind of work for workers; "" if this process makes the call
	Timeout time.Duration
	About   atom.Call
	Missing *atom.Failure              // why the call cannot be made; nil if it can
	Ask     func() (atom.Value, error) // returns the values of a revert; nil if they are known

	of      *Executor
	number  int                       // of the calls of the run, from 1
	life    callContext               // context of the call, which ends when the call is no longer needed
	ctx     atom.HostContext          // context with the host of the call
	flight  int                       // index in Executor.dispatched
	late    *time.Timer               // timer that gives the call up
	told    bool                      // the call was cancelled
	givenUp bool                      // the driver does not wait for its end any longer
	due     atomic.Pointer[time.Time] // when its time is up; nil if it has no limit

	transactions atomic.Int32 // number of transactions so far
}

// Finished is the end of a call.
type Finished struct {
	Call  *Call
	Event scheduler.Event // the event that reports the end
	Known bool            // false: the process stopped during the call, and its outcome is unknown
	At    time.Time
}

// Unwanted reports whether the call's context has ended.
func (c *Call) Unwanted() bool { return c.life.Err() != nil }

// completed returns the event for the end of the call, without how the call ended.
func (c *Call) completed() scheduler.Event {
	return scheduler.Event{Kind: scheduler.Completed, Unit: c.Unit, Revert: c.About.Revert}
}

// SetBody sets the atom's body. The body is nil if Missing is set.
func (c *Call) SetBody(body atom.Body) {
	c.Body = body
	q, ok := body.(atom.Queued)
	if !ok || c.Missing != nil {
		return
	}
	var err error
	broke := guard.Call(func() {
		c.Work = q.Queue(&c.About)
		// A worker could not tell that it has done nothing.
		if t, ok := body.(interface{ CheckArguments(in atom.Values) error }); ok && c.Work != "" && !c.About.Revert {
			err = t.CheckArguments(c.Values)
		}
	})
	if err = cmp.Or(broke, err); err != nil {
		c.Missing, c.Work = atom.NewFailure(c.About.Path, c.About.Attempt, err), ""
	}
}

// Make calls the task and returns the event that reports the end of the call. If the call ended because the process
// stops, known is false: the run's next owner then makes the call again.
func (c *Call) Make() (ev scheduler.Event, known bool) {
	ctx := c.ctx.Of(&c.life, &c.About, c)
	defer func() {
		ev.Own = c.Missing == nil && (c.life.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded))
		c.life.end()
	}()
	if ev = c.completed(); c.Missing != nil {
		ev.Failure = c.Missing
		return ev, true
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		due, _ := ctx.Deadline()
		c.due.Store(&due)
	}
	defer func() {
		if p := recover(); p != nil {
			failpoint.Hit("engine.executed")
			ev, known = c.endedWith(ctx, ev, nil, guard.Panicked(p))
		}
	}()
	for _, wrap := range slices.Backward(c.of.Middleware) {
		c.Body = wrap(c.Body)
	}
	var result atom.Value
	var err error
	if c.About.Revert {
		result, err = c.revert(ctx)
	} else {
		result, err = c.execute(ctx)
	}
	failpoint.Hit("engine.executed")
	switch {
	case err != nil || len(result) > atom.MaxValue:
		return c.endedWith(ctx, ev, result, err)
	case c.Unit.Node != nil && c.About.Token != "" && !c.About.Revert && !c.Unit.Node.Spec.Ends:
		// another party ends the node
		ev.Kind, ev.Result = scheduler.Deferred, result
	case result == nil:
		ev.Result = atom.Null
	default:
		ev.Result = result
	}
	return ev, true
}

// endedWith completes the event of a call that returned an error, or a result that is too large. The errors
// [atom.ErrEnded] and [atom.ErrDeferred] are not failures.
func (c *Call) endedWith(ctx context.Context, ev scheduler.Event, result atom.Value,
	err error,
) (scheduler.Event, bool) {
	switch {
	case len(result) > atom.MaxValue && (err == nil || errors.Is(err, atom.ErrEnded)):
		err = atom.ErrValueTooLarge
	case errors.Is(err, atom.ErrEnded):
		if ev.Result = result; result == nil {
			ev.Result = atom.Null
		}
		return ev, true
	case errors.Is(err, atom.ErrDeferred) && c.About.Token == "":
		err = errors.New("only a task that is atom.Deferrable may return atom.ErrDeferred")
	case errors.Is(err, atom.ErrDeferred):
		ev.Kind, ev.Result = scheduler.Deferred, result
		return ev, true
	}
	if errors.Is(context.Cause(&c.life), ErrStopped) {
		return ev, false
	}
	if ev.Untaken = c.neverDecoded(err); ev.Untaken {
		ev.Result = atom.Null
		return ev, true
	}
	ev.Failure = c.failure(ctx, err)
	return ev, true
}

// neverDecoded reports whether the arguments of a revert cannot be decoded, and those of the execution could not be in
// the same way: then there is nothing to undo. Only failures that earlier versions of Ebb stored do not say so
// themselves, see [atom.Failure].
func (c *Call) neverDecoded(err error) bool {
	if !c.About.Revert {
		return false
	}
	f, failed := c.Detail.Outcome.Failed()
	now := atom.NewFailure(c.About.Path, 0, err)
	return failed && now.Untaken && f.Atom == now.Atom && f.Message == now.Message
}

// failure returns the failure of a call that returned an error.
func (c *Call) failure(ctx context.Context, err error) *atom.Failure {
	f := atom.NewFailure(c.About.Path, c.About.Attempt, err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		f.Code = atom.CodeTimeout
		f.Message = fmt.Sprintf("the attempt took longer than %v", c.Timeout)
	} else if c.life.Err() != nil {
		f.Code = atom.CodeCancelled
	}
	f.Message = clip.Text(f.Message, atom.MaxFailureText)
	f.Untaken = f.Untaken && !c.About.Revert
	return f
}

// execute calls the task's Execute.
func (c *Call) execute(ctx context.Context) (atom.Value, error) {
	in, err := atom.Expand(ctx, c.Values)
	if err != nil {
		return nil, err
	}
	return c.Body.Execute(ctx, in)
}

// revert calls the task's Revert. If the values of the revert are not known yet, it asks for them first.
func (c *Call) revert(ctx context.Context) (atom.Value, error) {
	if err := c.evaluate(); err != nil {
		return nil, err
	}
	in, err := atom.Expand(ctx, c.Values)
	if err != nil {
		return nil, err
	}
	return c.Body.Revert(ctx, in, c.Detail.Outcome)
}

// evaluate asks for the values of a revert, if they are not known. That may take long, so it is a part of the call.
func (c *Call) evaluate() error {
	if c.Ask == nil {
		return nil
	}
	in, err := c.Ask()
	if ended := c.life.Err(); ended != nil {
		return ended
	}
	c.Values, c.Ask = atom.Single(in), nil
	return err
}

// Evaluate asks for the values of a revert while the caller waits, if they are not known.
func (c *Call) Evaluate() (err error) {
	if c.Ask == nil {
		return nil
	}
	if broke := guard.Call(func() { err = c.evaluate() }); broke != nil {
		return broke
	}
	return err
}

// Vanished returns the end of a call whose task has ended its goroutine, see [runtime.Goexit].
func (c *Call) Vanished() Finished {
	ev := c.completed()
	ev.Failure = atom.NewFailure(c.About.Path, c.About.Attempt, guard.ErrEnded)
	return Finished{c, ev, true, c.of.Store.Now()}
}
