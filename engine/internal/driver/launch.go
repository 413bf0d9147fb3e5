package driver

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/guard"
)

// launch makes queued calls as capacity allows, unless the process must stop. If another goroutine took the run
// from this one meanwhile, it returns errTaken. While the driver is carrying out commands, other goroutines make the
// calls.
func (d *Driver) launch(elsewhere bool) error {
	for d.calls.Queued() > 0 && d.ctx.Err() == nil && !d.att.quiets() {
		c := d.calls.Next()
		isRetry := c.Unit.IsRetry()
		if !isRetry && d.calls.Full() {
			d.calls.Hold()
			return nil
		}
		d.calls.Take()
		if c.Missing == nil {
			c.Unit.MarkCalled()
		}
		if c.About.Revert {
			failpoint.Hit("engine.reverting")
		}
		serial := d.calls.Parallel == 1 && c.Unit.Planned != nil
		switch {
		case isRetry:
			ev, err := d.ask.nextTry(c)
			if err != nil {
				return err
			}
			d.ends.list = append(d.ends.list, ev)
		case !elsewhere && c.Timeout == 0 && (serial || d.lone()) && !d.waits():
			if err := d.makeHere(c); err != nil {
				return err
			}
			d.calls.Hold()
		case serial:
			d.dispatch(c)
			d.await(c)
			d.calls.Hold()
		default:
			d.dispatch(c)
		}
	}
	return nil
}

// lone reports whether a call would be the only one that runs. Nothing else can then start before it ends, and no
// other goroutine needs to make it.
func (d *Driver) lone() bool {
	return d.calls.Running() == 0 && d.calls.Queued() == 0 && len(d.ends.list) == 0
}

// waits reports whether a timer may fire before a call has ended.
func (d *Driver) waits() bool {
	_, waits := d.attempts.Nearest()
	return waits
}

// makeHere makes a call on the driving goroutine. If the call takes long, another goroutine may take the run over.
// If the call is stopped by a stop of the process, it reports no end: wait notices that the process must stop.
func (d *Driver) makeHere(c *executor.Call) error {
	queued := d.calls.Queued() > 0 || len(d.ends.list) > 0
	if queued {
		d.Tick()
		d.Draft.Began(c.Unit, d.Draft.Now, c.Held())
	}
	returned, gone := false, d.att.gone // another goroutine that takes the run over sets its own
	d.att.here.Store(c)
	if d.att.called() && d.att.here.CompareAndSwap(c, nil) {
		d.dispatch(c)
		return nil
	}
	defer func() {
		if !returned {
			*gone = true
			d.takeOver()
			d.calls.Report(c.Vanished())
		}
	}()
	ev, known := c.Make()
	returned = true
	if !d.att.here.CompareAndSwap(c, nil) {
		d.calls.Report(executor.Finished{Call: c, Event: ev, Known: known, At: d.env.Store.Now()})
		return errTaken
	}
	d.TimePasses()
	if !known {
		return nil
	}
	if queued { // processed when the other calls have ended, too
		d.Tick()
		d.Draft.Ended(c.Unit, d.Draft.Now)
	}
	d.ends.list = append(d.ends.list, ev)
	return nil
}

// dispatch makes a call on another goroutine.
func (d *Driver) dispatch(c *executor.Call) {
	d.Tick()
	d.Draft.Began(c.Unit, d.Draft.Now, c.Held())
	d.calls.Dispatch(c)
}

// await waits until a call has ended, so that a serial engine makes calls one after the other even if several are
// ready. It stops waiting if the run must handle a request.
func (d *Driver) await(c *executor.Call) {
	d.TimePasses()
	var due <-chan time.Time
	if at, ok := d.attempts.Nearest(); ok {
		t := time.NewTimer(at.Sub(d.env.Store.Now()))
		defer t.Stop()
		due = t.C
	}
	for d.calls.Makes(c) && !d.att.look.Load() {
		if f, ok := d.calls.Completed(); ok { // processed later
			d.Draft.Ended(f.Call.Unit, f.At)
			if f.Known {
				d.ends.list = append(d.ends.list, f.Event)
			}
			continue
		}
		select {
		case <-d.calls.Ended():
		case stuck := <-d.calls.Stuck():
			if ev, ok := d.calls.GiveUp(stuck); ok {
				d.ends.list = append(d.ends.list, ev)
			}
		case <-d.att.wake:
		case <-due:
			return
		case <-d.att.suspend:
			return
		case <-d.ctx.Done():
			return
		}
	}
}

// cancel ends a running or queued call of an atom.
func (d *Driver) cancel(cmd *scheduler.Command) {
	d.calls.Cancel(cmd.Unit, cmd.Abandoned)
	if cmd.Abandoned {
		d.attempts.Close(cmd.Unit.Path, false)
	}
}

// prepare turns a command into a call.
func (d *Driver) prepare(cmd *scheduler.Command) *executor.Call {
	c := d.calls.NewCall()
	c.Unit, c.Values, c.Detail = cmd.Unit, cmd.Values, cmd.Detail
	c.Number, c.State, c.Missing = checkpoint.Number(&cmd.Rec), cmd.Rec.State, cmd.Missing
	c.About = atom.Call{
		Path: cmd.Unit.Path, Run: d.Claim.Run, Incarnation: int(cmd.Rec.Incarnation), Attempt: int(cmd.Rec.Attempt),
		Revert: cmd.Op == scheduler.Revert, Fence: d.Claim.Fence, Trace: d.trace, PlainKey: d.children.family.plain,
	}
	if a := cmd.Unit.Planned; a != nil {
		c.Timeout = a.Timeout()
		if c.About.Revert {
			c.Timeout, c.About.Attempt = a.RevertPolicy().Timeout, int(cmd.Rec.RevertAttempt())+1
		}
		c.SetBody(a.Body())
		return c
	}
	spec := &cmd.Unit.Node.Spec
	name := spec.Task
	c.Timeout = spec.Timeout
	if c.About.Revert {
		name = spec.Undo.Task
		c.Timeout, c.About.Attempt = spec.Undo.Policy.Timeout, int(cmd.Rec.RevertAttempt())+1
	}
	var body atom.Body
	var err error
	if broke := guard.Call(func() { body, err = d.task(name) }); broke != nil {
		body, err = nil, broke
	}
	if err == nil && c.About.Revert {
		d.ask.askUndo(cmd, c)
	}
	if err != nil {
		c.Missing = atom.NewFailure(c.About.Path, c.About.Attempt, err)
		if c.Missing.Code == atom.CodeError {
			c.Missing.Code = atom.CodeNoTask
		}
		c.Missing.Untaken = !c.About.Revert && cmd.Unit.NotCalled()
	}
	c.SetBody(body)
	return c
}

func (d *Driver) task(name string) (atom.Body, error) {
	if l, ok := d.plan.Atoms[0].Language.(grow.TaskLanguage); ok {
		if body, ok := l.Task(name); ok {
			return body, nil
		}
	}
	if d.tasks == nil {
		return nil, atom.Errorf(atom.CodeNoTask,
			"no task is registered as %q; give the engine its tasks with engine.WithTasks", name)
	}
	return d.tasks.Task(name)
}
