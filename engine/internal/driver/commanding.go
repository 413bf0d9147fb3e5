package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/logevent"
)

// command applies a command, unless the run does not allow it.
func (d *Driver) command(o *inbox.Command, n int64) error {
	so, tell, err := d.accept(o, n)
	if tell {
		d.cycle.commanded = true
		err = d.feed(scheduler.Event{Kind: scheduler.CommandReceived, OperatorCommand: &so})
	}
	return err
}

// accept returns the command for the scheduler, and whether the scheduler must apply it. If the run does not allow
// the command, accept drops it.
func (d *Driver) accept(o *inbox.Command, n int64) (so scheduler.OperatorCommand, tell bool, err error) {
	if n <= d.inTime {
		o.Next = 0
	}
	if err := d.Refuse(o); err != nil {
		if notOfRun(err) {
			return so, false, err
		}
		d.env.Log.Warn(logevent.CommandRefused, "run", d.claim.Run, "command", o.Kind, "error", err)
		d.next.Judged(n, err)
		d.next.Take(n)
		if o.Kind == inbox.Retry && d.State().Ended() { // the parent run may have sent it
			d.children.tellParent()
		}
		return so, false, nil
	}
	d.next.Judged(n, nil)
	d.rests = d.rests && o.Kind == inbox.Suspend
	d.children.descent.deep = d.children.descent.deep || o.Deep
	d.env.Log.Info(logevent.CommandReceived, logevent.Attributes("run", d.claim.Run, "command", o.Kind, "path", o.Path)...)
	if o.Kind == inbox.Suspend || o.Kind == inbox.Resume {
		d.next.Take(n)
		if o.Kind == inbox.Suspend { // what resumes the run is that it was taken over
			d.att.quit = true
			d.next.Take(d.box.resumes)
			d.box.resumes = 0
		}
		return so, false, nil
	}
	if len(o.Input) > 0 {
		err = d.replaceInput(o.Input)
	}
	return o.Operator(n), err == nil, err
}

// replaceInput gives some inputs of the run new values.
func (d *Driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return WrapStore(d.claim.Run, err)
	}
	held := d.next.Hold(whole)
	d.next.Input, d.about.Input, d.next.Dirty = &held, whole, true
	return nil
}
