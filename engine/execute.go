package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
)

// A call is one Execute or Revert on its way.
type call struct {
	cmd     scheduler.Command
	body    atom.Body
	timeout time.Duration
	about   atom.Call
	cancel  context.CancelFunc // of what executes; nil until it does
	missing *atom.Failure      // the call cannot be made
}

// prepare turns a command into a call.
func (d *driver) prepare(cmd *scheduler.Command) *call {
	c := &call{cmd: *cmd, missing: cmd.Missing}
	c.about = atom.Call{
		Run: d.claim.Run, Incarnation: int(cmd.Rec.Incarnation), Attempt: int(cmd.Rec.Attempt),
		Revert: cmd.Op == scheduler.Revert, Fence: d.claim.Fence,
	}
	if cmd.Node == nil {
		a := &d.e.plan.Atoms[cmd.Atom]
		c.about.Path, c.timeout, c.body = a.Name(), a.Timeout(), a.Body()
		return c
	}
	c.about.Path, c.timeout = cmd.Node.Path, cmd.Node.Spec.Timeout
	name := cmd.Node.Spec.Task
	if c.about.Revert {
		name = cmd.Node.Spec.Undo.Task
		c.timeout = 0
	}
	body, err := d.task(name)
	if err == nil && c.about.Revert {
		cmd.Values, err = d.undoInput(cmd)
		c.cmd.Values = cmd.Values
	}
	if err != nil {
		c.missing = atom.NewFailure(c.about.Path, c.about.Attempt, err)
		if c.missing.Code == atom.CodeError {
			c.missing.Code = atom.CodeNoTask
		}
	}
	c.body = body
	return c
}

func (d *driver) task(name string) (atom.Body, error) {
	if d.e.tasks == nil {
		return nil, atom.Errorf(atom.CodeNoTask, "no task is registered as %q; give the engine its tasks with engine.WithTasks", name)
	}
	return d.e.tasks.Task(name)
}

// make makes the call and returns the event that tells of its end. It returns
// false when the engine was stopped in the middle: then nothing is known.
func (c *call) make(ctx context.Context) (scheduler.Event, bool) {
	ev := scheduler.Event{Kind: scheduler.Completed, Atom: c.cmd.Atom, Node: c.cmd.Node, Revert: c.about.Revert}
	if c.missing != nil {
		ev.Failure = c.missing
		return ev, true
	}
	outer := ctx
	ctx = atom.WithCall(ctx, &c.about)
	if c.timeout > 0 && !c.about.Revert {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	result, err := c.invoke(ctx)
	failpoint.Hit("engine.executed")
	if err == nil && len(result) > atom.MaxValue {
		err = atom.ErrValueTooLarge
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
		return c.body.Revert(ctx, c.cmd.Values, c.cmd.Outcome)
	}
	return c.body.Execute(ctx, c.cmd.Values)
}

// maxText bounds, in bytes, the texts that user code can make the store keep.
const maxText = 32 << 10

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
