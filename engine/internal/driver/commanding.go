package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/logevent"
)

// command applies a command, unless the run does not allow it.
func (d *Driver) command(cmd *inbox.Command, n int64) error {
	so, tell, err := d.accept(cmd, n)
	if tell {
		d.cycle.commanded = true
		err = d.feed(scheduler.Event{Kind: scheduler.CommandReceived, OperatorCommand: &so})
	}
	return err
}

// accept returns the command for the scheduler, and whether the scheduler must apply it. If the run does not allow
// the command, accept drops it.
func (d *Driver) accept(cmd *inbox.Command, n int64) (so scheduler.OperatorCommand, tell bool, err error) {
	if err := d.Refuse(cmd); err != nil {
		if notOfRun(err) {
			return so, false, err
		}
		d.Log().Warn(logevent.CommandRefused, "run", d.Claim.Run, "command", cmd.Kind, "error", err)
		d.Draft.Judged(n, err)
		d.Draft.Take(n)
		if cmd.Kind == inbox.Retry && d.State().Ended() { // the parent run may have sent it
			d.children.tellParent()
		}
		return so, false, nil
	}
	d.Draft.Judged(n, nil)
	d.rests = d.rests && cmd.Kind == inbox.Suspend
	d.children.descent.deep = d.children.descent.deep || cmd.Deep
	d.Log().Info(logevent.CommandReceived, logevent.Attributes(
		"run", d.Claim.Run, "command", cmd.Kind, "path", cmd.Path)...)
	if cmd.Kind == inbox.Suspend || cmd.Kind == inbox.Resume {
		d.Draft.Take(n)
		d.att.quit = d.att.quit || cmd.Kind == inbox.Suspend
		return so, false, nil
	}
	if len(cmd.Input) > 0 {
		err = d.replaceInput(cmd.Input)
	}
	return cmd.Operator(n), err == nil, err
}

// replaceInput gives some inputs of the run new values.
func (d *Driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return d.Wrap(err)
	}
	held := d.Draft.Hold(whole)
	d.Draft.Input, d.about.Input, d.Draft.Dirty = &held, whole, true
	return nil
}
