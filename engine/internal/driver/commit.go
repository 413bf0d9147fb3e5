package driver

import (
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// keepFlowState adds a change of the run's own state to the pending checkpoint. Under Each it commits the
// change at once, except for the end of the run: [Driver.conclude] adds to that checkpoint.
func (d *Driver) keepFlowState(cmd *scheduler.Command) error {
	d.next.FlowState(cmd)
	if cmd.FlowFrom.Ended() && !cmd.FlowTo.Ended() && d.cycle.reopens && d.about.Key != "" {
		d.next.TakeKey = true
	}
	d.note(Event{Kind: FlowChanged, From: cmd.FlowFrom.String(), To: cmd.FlowTo.String()})
	if cmd.FlowTo.Ended() || cmd.FlowTo == states.FlowSuspended && cmd.FlowFrom != states.FlowResuming {
		return nil
	}
	return d.flushEach()
}

// flushEach commits if the engine commits every change separately.
func (d *Driver) flushEach() error {
	if d.env.Each && !d.cycle.whole {
		return d.flush()
	}
	return nil
}

// flush commits the pending checkpoint, then notifies observers. Afterwards this process owns the run.
func (d *Driver) flush() error {
	if !d.next.Dirty && d.Owns() {
		responder{d}.deliver()
		d.children.driveChildRuns()
		return nil
	}
	d.next.Head.Time, d.stale = d.next.Now, true
	if err := d.env.Store.Commit(d.storing, d.claim, &d.next.Checkpoint); err != nil {
		if err := d.commitAgain(err); err != nil {
			return err
		}
	}
	failpoint.Hit("engine.committed")
	if d.Mode.Begun != nil {
		d.Mode.Begun()
		d.Mode.Begun = nil
	}
	responder{d}.deliver()
	d.next.Renew()
	d.children.family.counted = false
	d.announce()
	d.children.driveChildRuns()
	if err := d.children.descent.descend(); err != nil {
		return err
	}
	return d.applySuspendRequest()
}

// commitTries is how often the driver tries to commit a checkpoint while the store fails temporarily. The pause
// between attempts grows.
const commitTries = 4

// final lists the errors that another attempt to commit cannot fix.
var final = []error{
	storage.ErrFenced, storage.ErrClosed, storage.ErrCorrupt, storage.ErrInvalid, storage.ErrExists, storage.ErrNotFound,
	storage.ErrLimited, storage.ErrConflict, storage.ErrKeyTaken, storage.ErrBroken, storage.ErrTaken,
}

// commitAgain retries a checkpoint after the store returned err, until the store commits or refuses the checkpoint,
// or the attempts are used up. A retry is safe even if the store has committed the checkpoint, because the store
// recognizes a committed checkpoint.
func (d *Driver) commitAgain(err error) error {
	wait := 20 * time.Millisecond
	for try := 1; err != nil; try++ {
		d.box.requests.unsure = d.box.requests.unsure || errors.Is(err, storage.ErrUnsure)
		if try == commitTries || slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) }) {
			return WrapStore(d.claim.Run, err)
		}
		d.env.Log.Warn(logevent.CheckpointRetrying, "run", d.claim.Run, "attempt", try, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-d.ctx.Done():
			t.Stop()
			return WrapStore(d.claim.Run, err)
		}
		wait *= 5
		err = d.env.Store.Commit(d.storing, d.claim, &d.next.Checkpoint)
	}
	d.box.requests.unsure = false
	return nil
}

// keepReports adds the progress reports of calls to the pending checkpoint. The scheduler's commands must have been
// carried out, so that its records are current. A report of a call that has ended is dropped.
func (d *Driver) keepReports() {
	for _, r := range d.calls.Reports() {
		c := r.Call
		if !d.next.Said(c.Node, c.Atom, c.Number, c.State, r.Fraction, &r.Details) {
			continue
		}
		cmd := scheduler.Command{Op: scheduler.Write, Atom: c.Atom, Node: c.Node}
		if c.Node != nil {
			cmd.Rec = c.Node.Rec
		} else {
			cmd.Rec = *d.s.Record(c.Atom)
		}
		d.next.Record(&cmd)
		d.note(Event{
			Kind: ProgressMade, Path: c.About.Path, Attempt: c.About.Attempt, Progress: r.Fraction, Details: r.Details,
		})
	}
}
