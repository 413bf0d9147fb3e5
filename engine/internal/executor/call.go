package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
)

// ErrStopped is the cause with which the contexts of calls end when the process is to stop.
var ErrStopped = errors.New("engine: stopped; the run goes on when it is run again")

// A Call is one Execute or Revert on its way. The goroutine that makes it may use only what
// does not change any more once it was dispatched.
type Call struct {
	Atom    int32 // index in the plan; -1 when Node is meant
	Node    *scheduler.Node
	Values  atom.Values
	Detail  *scheduler.Detail // of a revert and of a retry; nil otherwise
	Number  int64             // tells the attempts of an incarnation apart
	State   states.Task       // that the attempt is in
	Body    atom.Body
	Work    string // the kind of work that it is for workers; "" when it is made here
	Timeout time.Duration
	About   atom.Call
	Missing *atom.Failure              // the call cannot be made
	Ask     func() (atom.Value, error) // returns the values, if they are still to be asked for

	of      *Executor
	life    callContext      // its context: how long it is wanted
	ctx     atom.HostContext // around it
	flight  int              // where it is in Executor.dispatched, if it is
	late    *time.Timer      // gives it up
	told    bool             // it was cancelled
	givenUp bool             // nothing waits for its end any more

	transactions atomic.Int32 // made so far
}

// Finished is a call that has ended.
type Finished struct {
	Call  *Call
	Event scheduler.Event // tells of its end
	Known bool            // false: it was stopped in the middle, and nothing is known
	At    time.Time
}

// Unwanted reports whether the call's context has ended.
func (c *Call) Unwanted() bool { return c.life.Err() != nil }

func (c *Call) completed() scheduler.Event {
	return scheduler.Event{Kind: scheduler.Completed, Atom: c.Atom, Node: c.Node, Revert: c.About.Revert}
}

// Make makes the call and returns the event that tells of its end. It returns
// false when the process is to stop and the call was ended by that: then nothing is known.
func (c *Call) Make() (scheduler.Event, bool) {
	defer c.life.end()
	ev := c.completed()
	if c.Missing != nil {
		ev.Failure = c.Missing
		return ev, true
	}
	outer := &c.life
	ctx := c.ctx.Of(outer, &c.About, c)
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	result, err := c.invoke(ctx)
	failpoint.Hit("engine.executed")
	ended := errors.Is(err, atom.ErrEnded)
	switch {
	case ended:
		err = nil
	case errors.Is(err, atom.ErrDeferred) && c.About.Token == "":
		err = errors.New("only a task that is atom.Deferrable may return atom.ErrDeferred")
	case errors.Is(err, atom.ErrDeferred):
		ev.Kind, ev.Result = scheduler.Deferred, result
		return ev, true
	}
	if err == nil && len(result) > atom.MaxValue {
		err = atom.ErrValueTooLarge
	}
	if err == nil && c.Node != nil && c.About.Token != "" && !c.About.Revert && !c.Node.Spec.Ends && !ended { // others end it
		ev.Kind, ev.Result = scheduler.Deferred, result
		return ev, true
	}
	if err == nil {
		if ev.Result = result; result == nil {
			ev.Result = atom.Null
		}
		return ev, true
	}
	if errors.Is(context.Cause(outer), ErrStopped) {
		return ev, false
	}
	ev.Failure = c.failure(ctx, err)
	return ev, true
}

// failure returns with what a call fails that returned an error.
func (c *Call) failure(ctx context.Context, err error) *atom.Failure {
	f := atom.NewFailure(c.About.Path, c.About.Attempt, err)
	if ctx.Err() != nil && c.life.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		f.Code = atom.CodeTimeout
		f.Message = fmt.Sprintf("the attempt took longer than %v", c.Timeout)
	} else if c.life.Err() != nil {
		f.Code = atom.CodeCancelled
	}
	f.Message = clip.Text(f.Message, atom.MaxFailureText)
	return f
}

// invoke calls user code; a panic in it is an error with its stack.
func (c *Call) invoke(ctx context.Context) (result atom.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &atom.PanicError{Value: p, Stack: clip.Text(string(debug.Stack()), atom.MaxFailureText)}
		}
	}()
	if !c.About.Revert {
		return c.Body.Execute(ctx, c.Values)
	}
	if err := c.evaluate(); err != nil {
		return nil, err
	}
	return c.Body.Revert(ctx, c.Values, c.Detail.Outcome)
}

// evaluate asks for the values of a revert, if they are still to be asked for. That may take
// long, so it is a part of the call.
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

// Evaluate asks for the values of a revert on the caller's goroutine, if they are still to be
// asked for. A panic is an error.
func (c *Call) Evaluate() (err error) {
	var broke *atom.Failure
	defer func() {
		if broke != nil {
			err = broke
		}
	}()
	defer Guard(c.About.Path, &broke)
	return c.evaluate()
}

// Vanished is how a call ends whose task has ended the goroutine it was called on,
// see [runtime.Goexit].
func (c *Call) Vanished() Finished {
	ev := c.completed()
	ev.Failure = atom.NewFailure(c.About.Path, c.About.Attempt, errors.New("the task ended its goroutine"))
	return Finished{c, ev, true, time.Now()}
}

// Guard is deferred around user code. It turns a panic into the failure of the atom at path.
func Guard(path string, f *(*atom.Failure)) {
	if p := recover(); p != nil {
		*f = atom.NewFailure(path, 0, &atom.PanicError{Value: p, Stack: clip.Text(string(debug.Stack()), atom.MaxFailureText)})
	}
}
