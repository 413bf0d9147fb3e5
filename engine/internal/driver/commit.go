package driver

import (
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// keep adds a change to the pending checkpoint. Under Each it commits the change at once.
func (d *Driver) keep(cmd *scheduler.Command) error {
	if cmd.Op == scheduler.FlowState {
		d.next.FlowState(cmd)
		d.note(Event{Kind: FlowChanged, From: cmd.FlowFrom.String(), To: cmd.FlowTo.String()})
		if cmd.FlowTo.Ended() || cmd.FlowTo == states.FlowSuspended && cmd.FlowFrom != states.FlowResuming {
			return nil // it is kept together with its end, which follows
		}
		return d.flushEach()
	}
	if cmd.Op == scheduler.Write {
		d.noteDelay(d.next.Record(cmd))
		return nil
	}
	a, entry := d.next.Change(cmd)
	if cmd.To == states.TaskRunning && cmd.Node == nil && cmd.Scope == nil && !d.Grows() {
		d.next.Head.Iterations++
		d.cycle.attempted = true
	}
	if d.notices.watched {
		d.noteChange(cmd, a, entry)
	}
	return d.flushEach()
}

// flushEach commits when every change is to be committed by itself.
func (d *Driver) flushEach() error {
	if d.env.Each && !d.cycle.whole {
		return d.flush()
	}
	return nil
}

// flush commits the pending checkpoint, then notifies observers. Afterwards this process owns the run.
func (d *Driver) flush() error {
	if !d.next.Dirty && d.Owns() {
		d.children.driveChildRuns()
		return nil
	}
	d.next.Head.Time = d.next.Now
	if err := d.commit(); err != nil {
		return err
	}
	failpoint.Hit("engine.committed")
	d.next.Renew()
	d.children.family.counted = false
	d.announce()
	d.children.driveChildRuns()
	return d.applySuspendRequest()
}

// commitTries is how often the driver tries to commit a checkpoint while the store fails
// temporarily. The wait between tries grows.
const commitTries = 4

// final are the errors that a retry of the same checkpoint cannot fix.
var final = []error{
	storage.ErrFenced, storage.ErrClosed, storage.ErrCorrupt, storage.ErrInvalid, storage.ErrExists, storage.ErrNotFound, storage.ErrLimited,
	storage.ErrBroken,
}

// commit retries the checkpoint until the store commits or refuses it, or the tries are
// used up. Trying twice is safe: the store's guard recognizes a checkpoint that it has.
func (d *Driver) commit() error {
	d.stale = true
	wait := 20 * time.Millisecond
	for try := 1; ; try++ {
		err := d.env.Store.Commit(d.storing, d.claim, &d.next.Checkpoint)
		if err == nil {
			return nil
		}
		if try == commitTries || slices.ContainsFunc(final, func(f error) bool { return errors.Is(err, f) }) {
			return storeError(d.claim.Run, err)
		}
		d.env.Log.Warn("the store did not take a checkpoint; trying again", "run", d.claim.Run, "try", try, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-d.ctx.Done():
			t.Stop()
			return storeError(d.claim.Run, err)
		}
		wait *= 5
	}
}

// keepReports adds the reports of calls to the pending checkpoint. The scheduler's
// commands must have been carried out, so that its records are the latest. A report of
// a call that is over is dropped.
func (d *Driver) keepReports() {
	for _, r := range d.calls.Reports() {
		c := r.Call
		if !d.next.Said(c.Node, c.Atom, c.Number, c.State, r.Fraction, &r.Details) {
			continue
		}
		if n := c.Node; n != nil {
			d.next.Node(n, &n.Rec)
		} else {
			d.next.Atom(c.Atom, d.s.Record(c.Atom))
		}
		d.next.Dirty = true
		d.note(Event{
			Kind: ProgressMade, Path: c.About.Path, Attempt: c.About.Attempt, Progress: r.Fraction, Details: r.Details,
		})
	}
}
