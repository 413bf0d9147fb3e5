package driver

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// conclude says how the run ended, once it has.
func (d *Driver) conclude(cmd *scheduler.Command) {
	over := *cmd
	d.over = &over
	d.next.Dirty = true
	defer d.endJob()
	h := &d.next.Head
	h.Release, h.Wakeups = true, d.wakeups
	h.Failure, h.Hold = nil, false
	switch cmd.FlowTo {
	case states.FlowSuspended:
		h.Hold = true
		if len(cmd.Failures) > 0 { // a revert failed, and a human is to decide
			h.Failure = cmd.Failures[0]
		} else if d.aside != nil {
			h.Failure = d.aside
			d.env.Log.Error("a run is set aside", "run", d.claim.Run, "reason", d.aside.Message)
		}
		return
	case states.FlowSuccess:
		h.Outcome, h.Undo = storage.Succeeded, storage.UndoNone
		if cmd.End != nil {
			h.Output = d.next.Hold(cmd.End.Value)
		}
	default:
		h.Outcome, h.Undo = storage.FailedOutcome, storage.UndoNone
		if cmd.PendingOutcome != scheduler.NothingPending {
			h.Outcome = outcomes[cmd.PendingOutcome]
		}
		switch {
		case cmd.FlowTo == states.FlowReverted:
			h.Undo = storage.UndoneAll
		case d.s.RevertFailed():
			h.Undo = storage.UndoFailed
		case d.s.Kept() || d.s.PartlyUndone():
			h.Undo = storage.UndonePart
		}
		if len(cmd.Failures) > 0 {
			h.Failure = cmd.Failures[0]
		}
	}
	h.Ended = d.next.Now
	d.dropTimers()
	for path := range d.external {
		d.closeToken(path, false)
	}
	d.tellParent()
}

// endJob ends the run's job as the run's end, which the head has, says.
func (d *Driver) endJob() {
	if d.job == "" {
		return
	}
	end := storage.JobEnd{Job: d.job, State: states.JobComplete, Failure: d.next.Head.Failure}
	if d.over.FlowTo == states.FlowSuspended || d.next.Head.Undo == storage.UndoFailed {
		end.State = states.JobParked
		if end.Failure == nil { // suspended on purpose
			return
		}
	}
	d.next.Job = &end
}

// Result returns the row of a run that was driven to rest, as it is now, and why it did not
// succeed. The row is otherwise the one that it was loaded with.
func (d *Driver) Result(run storage.Run) (storage.Run, []*atom.Failure) {
	h := &d.next.Head
	run.State, run.Outcome, run.Undo, run.Hold = h.State, h.Outcome, h.Undo, h.Hold
	run.Output, run.Failure = h.Output, h.Failure
	run.Started, run.Ended, run.Updated = h.Started, h.Ended, h.Time
	run.Seq, run.Entries, run.Events, run.Refs, run.Undos, run.Growth = h.Seq, h.Entries, h.Events, h.Refs, d.undos, h.Growth
	run.Owner = ""
	return run, d.over.Failures
}

// Scheduler returns the scheduler of the run.
func (d *Driver) Scheduler() *scheduler.Scheduler { return d.s }

// Claim returns the claim under which the run is driven.
func (d *Driver) Claim() storage.Claim { return d.claim }

// State returns the run's state as of its last commit.
func (d *Driver) State() states.Flow { return d.next.Head.State }

// BeginAnew forgets how a run ended that is driven once more.
func (d *Driver) BeginAnew() {
	h := &d.next.Head
	h.Outcome, h.Output, h.Ended = storage.Unfinished, storage.Held{}, time.Time{}
}

// Reset makes a run that has ended PENDING again, as if it had never run, and releases it.
func (d *Driver) Reset() error {
	if err := d.feed(scheduler.Event{Kind: scheduler.Reset}); err != nil {
		return err
	}
	h := &d.next.Head
	h.Outcome, h.Undo, h.Output, h.Failure = storage.Unfinished, storage.UndoNone, storage.Held{}, nil
	h.Started, h.Ended, h.Hold = time.Time{}, time.Time{}, false
	h.Release, h.Wakeups, d.next.Dirty = true, d.wakeups, true
	h.Memory = atom.Null
	return d.flush()
}

// HasRead says up to which wakeup counter the messages that the run begins with were read.
func (d *Driver) HasRead(wakeups int64) { d.wakeups = wakeups }
