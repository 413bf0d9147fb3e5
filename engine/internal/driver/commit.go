package driver

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
)

// keepFlowState adds a change of the run's own state to the pending checkpoint. It reports false if the run comes to
// rest: [Driver.conclude] adds to that checkpoint.
func (d *Driver) keepFlowState(cmd *scheduler.Command) (goesOn bool) {
	d.Draft.FlowState(cmd)
	if cmd.FlowFrom.Ended() && !cmd.FlowTo.Ended() && d.cycle.reopens && d.about.Key != "" {
		d.Draft.TakeKey = true
	}
	d.note(Event{Kind: FlowChanged, From: cmd.FlowFrom.String(), To: cmd.FlowTo.String()})
	return !cmd.FlowTo.Ended() && (cmd.FlowTo != states.FlowSuspended || cmd.FlowFrom == states.FlowResuming)
}

// commitEach commits if the engine commits every change separately. If it does, calls are then made.
func (d *Driver) commitEach(calls bool) error {
	if !d.env.Each {
		return nil
	}
	err := d.flush()
	if err == nil && calls {
		err = d.launch(true)
	}
	return err
}

// flush commits the pending checkpoint, then notifies observers. Afterwards this process owns the run.
func (d *Driver) flush() error {
	if !d.Draft.Dirty && d.Owns() {
		d.deliver()
		d.children.driveChildRuns()
		return nil
	}
	if err := d.Commit(d.storing, d.ctx.Done()); err != nil {
		return err
	}
	failpoint.Hit("engine.committed")
	if d.Mode.Begun != nil {
		d.Mode.Begun()
		d.Mode.Begun = nil
	}
	d.deliver()
	d.Draft.Renew()
	d.children.family.counted, d.children.family.looked = false, false
	d.announce()
	d.children.driveChildRuns()
	if err := d.children.descent.descend(); err != nil {
		return err
	}
	return d.applySuspendRequest()
}

// keepReports adds the progress reports of calls to the pending checkpoint. The scheduler's commands must have been
// carried out, so that its records are current. A report of a call that has ended is dropped.
func (d *Driver) keepReports() {
	for _, r := range d.calls.Reports() {
		c := r.Call
		if !d.Draft.Said(c.Unit, c.Number, c.State, r.Fraction, &r.Details) {
			continue
		}
		d.Draft.Record(&scheduler.Command{Op: scheduler.Write, Unit: c.Unit, Rec: c.Unit.Rec})
		d.note(Event{
			Kind: ProgressMade, Path: c.About.Path, Attempt: c.About.Attempt, Progress: r.Fraction, Details: r.Details,
		})
	}
}
