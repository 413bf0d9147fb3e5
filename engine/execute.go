package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	cut "github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
)

// A call is one Execute or Revert on its way.
type call struct {
	atom    int32 // index in the plan; -1 when node is meant
	node    *scheduler.Node
	values  atom.Values
	more    *scheduler.Detail // of a revert and of a retry; nil otherwise
	number  int64             // of the attempt, see numberOf
	state   states.Task       // that the attempt is in
	body    atom.Body
	work    string // the kind of work that it is for workers; "" when it is made here
	timeout time.Duration
	about   atom.Call
	life    callContext      // its context: how long it is wanted
	ctx     atom.HostContext // around it
	flight  int              // where it is in driver.flying, if it is
	missing *atom.Failure    // the call cannot be made
	undo    *flow.UndoAsk    // the values are still to be asked for
	late    *time.Timer      // gives it up
	told    bool             // it was cancelled
	givenUp bool             // nobody waits for its end any more

	transactions atomic.Int32 // made so far

	driver *driver // of which other goroutines may use only what never changes, and reports
}

// prepare turns a command into a call.
func (d *driver) prepare(cmd *scheduler.Command) *call {
	c := d.newCall()
	c.atom, c.node, c.values, c.more = cmd.Atom, cmd.Node, cmd.Values, cmd.Detail
	c.number, c.state, c.missing, c.driver = numberOf(&cmd.Rec), cmd.Rec.State, cmd.Missing, d
	c.life.of(d.atomCtx)
	c.about = atom.Call{
		Run: d.claim.Run, Incarnation: int(cmd.Rec.Incarnation), Attempt: int(cmd.Rec.Attempt),
		Revert: cmd.Op == scheduler.Revert, Fence: d.claim.Fence, Trace: d.trace,
	}
	if cmd.Node == nil {
		a := &d.plan.Atoms[cmd.Atom]
		c.about.Path, c.timeout = a.Name(), a.Timeout()
		if c.about.Revert {
			c.timeout, c.about.Attempt = a.RevertPolicy().Timeout, int(cmd.Rec.RevertAttempt())+1
		}
		c.calls(a.Body())
		return c
	}
	c.about.Path, c.timeout = cmd.Node.Path, cmd.Node.Spec.Timeout
	name := cmd.Node.Spec.Task
	if c.about.Revert {
		name = cmd.Node.Spec.Undo.Task
		c.timeout, c.about.Attempt = cmd.Node.Spec.Undo.Policy.Timeout, int(cmd.Rec.RevertAttempt())+1
	}
	body, err := d.task(name)
	if err == nil && c.about.Revert {
		c.undo = d.undoAsk(cmd, &c.life)
	}
	if err != nil {
		c.missing = atom.NewFailure(c.about.Path, c.about.Attempt, err)
		if c.missing.Code == atom.CodeError {
			c.missing.Code = atom.CodeNoTask
		}
	}
	c.calls(body)
	return c
}

// calls sets whose call it is.
func (c *call) calls(body atom.Body) {
	if q, ok := body.(atom.Queued); ok && c.missing == nil {
		c.work = q.Queue(&c.about)
	}
	c.body = c.driver.e.around(body)
}

// maxSpares is how many calls are allocated at once, at most: user code may hold
// on to a call's context, which then holds all of them.
const maxSpares = 32

// newCall returns an empty call. It allocates as many at once as there were
// before: a short run does not need space for many.
func (d *driver) newCall() *call {
	if len(d.spares) == 0 {
		d.spares = make([]call, min(max(d.prepared, 1), maxSpares))
	}
	c := &d.spares[0]
	d.spares = d.spares[1:]
	d.prepared++
	return c
}

func (d *driver) task(name string) (atom.Body, error) {
	if d.tasks == nil {
		return nil, atom.Errorf(atom.CodeNoTask, "no task is registered as %q; give the engine its tasks with engine.WithTasks", name)
	}
	return d.tasks.Task(name)
}

// make makes the call and returns the event that tells of its end. It returns
// false when the engine was stopped in the middle: then nothing is known.
func (c *call) make() (scheduler.Event, bool) {
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: c.atom, Node: c.node, Revert: c.about.Revert}
	if c.missing != nil {
		ev.Failure = c.missing
		return ev, true
	}
	outer := &c.life
	ctx := c.ctx.Of(outer, &c.about, c)
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	result, err := c.invoke(ctx)
	failpoint.Hit("engine.executed")
	ended := errors.Is(err, atom.ErrEnded)
	switch {
	case ended:
		err = nil
	case errors.Is(err, atom.ErrDeferred) && c.about.Token == "":
		err = errors.New("only a task that is atom.Deferrable may return atom.ErrDeferred")
	case errors.Is(err, atom.ErrDeferred):
		ev.Kind, ev.Result = scheduler.Deferred, result
		return ev, true
	}
	if err == nil && len(result) > atom.MaxValue {
		err = atom.ErrValueTooLarge
	}
	if err == nil && c.node != nil && c.about.Token != "" && !c.about.Revert && !c.node.Spec.Ends && !ended { // others end it
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
	ev.Failure = atom.NewFailure(c.about.Path, c.about.Attempt, err)
	if ctx.Err() != nil && outer.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		ev.Failure.Code = atom.CodeTimeout
		ev.Failure.Message = fmt.Sprintf("the attempt took longer than %v", c.timeout)
	} else if outer.Err() != nil {
		ev.Failure.Code = atom.CodeCancelled
	}
	ev.Failure.Message = clip(ev.Failure.Message)
	return ev, true
}

// invoke calls user code; a panic in it is an error with its stack.
func (c *call) invoke(ctx context.Context) (result atom.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, &atom.PanicError{Value: p, Stack: clip(string(debug.Stack()))}
		}
	}()
	if c.about.Revert {
		if err := c.evaluate(); err != nil {
			return nil, err
		}
		return c.body.Revert(ctx, c.values, c.more.Outcome)
	}
	return c.body.Execute(ctx, c.values)
}

// maxText bounds, in bytes, the texts that user code can make the store keep.
const maxText = atom.MaxFailureText

func clip(s string) string { return cut.Text(s, maxText) }
