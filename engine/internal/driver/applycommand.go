package driver

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// Refuse returns why the run, as it was loaded, does not allow a command.
func (d *Driver) Refuse(o *inbox.Command) error {
	if o.Err != nil {
		return o.Err
	}
	if o.Kind == inbox.Suspend {
		return nil
	}
	so := o.Operator(0)
	err := d.s.Refuse(&so)
	if err == nil && d.Grows() && o.Path != "" {
		if o.Kind == inbox.RevertTo {
			err = d.onStack(o.Path)
		} else {
			err = d.onTop(o.Path)
		}
	}
	if err == nil || notOfRun(err) {
		return err
	}
	return fmt.Errorf("%w: run %q: %w", ErrRefused, d.claim.Run, err)
}

// notOfRun reports whether an error says nothing about the run: the store failed, or the
// process is to stop.
func notOfRun(err error) bool {
	_, broken := errors.AsType[*StoreError](err)
	return broken || errors.Is(err, ErrStopped)
}

// onStack returns an error unless the path is one of those that can be undone.
func (d *Driver) onStack(path string) error {
	for u, err := range d.undoStack(0) {
		if err != nil || u.Path == path {
			return err
		}
	}
	return fmt.Errorf("%q is not among what was done and can be undone", path)
}

// onTop returns an error unless the path is the one that is to be undone next.
func (d *Driver) onTop(path string) error {
	for u, err := range d.undoStack(0) {
		if err != nil || u.Path == path {
			return err
		}
		return fmt.Errorf("the undoing did not come to a stop at %q, but at %q", path, u.Path)
	}
	return nil
}

// undoStack reads the stored undo stack from below an entry on, or with 0 from the top, down.
// It ends with the process, under ErrStopped.
func (d *Driver) undoStack(below int64) iter.Seq2[storage.Undo, error] {
	return func(yield func(storage.Undo, error) bool) {
		for u, err := range storage.EachUndo(d.ctx, d.env.Store, d.claim.Run, below) {
			if err = storeError(d.claim.Run, err); d.ctx.Err() != nil {
				err = ErrStopped
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

// accept returns the command for the scheduler, and whether the scheduler must
// apply it. If the run does not allow the command, accept drops it.
func (d *Driver) accept(o *inbox.Command, n int64) (so scheduler.OperatorCommand, tell bool, err error) {
	if err := d.Refuse(o); err != nil {
		if notOfRun(err) {
			return so, false, err
		}
		d.env.Log.Warn("command refused", "run", d.claim.Run, "command", o.Kind, "error", err)
		d.next.Take(n)
		return so, false, nil
	}
	d.env.Log.Info("command received", "run", d.claim.Run, "command", o.Kind, "atom", o.Path)
	if o.Kind == inbox.Suspend {
		d.next.Take(n)
		d.quit = true
		return so, false, nil
	}
	if len(o.Input) > 0 {
		err = d.replaceInput(o.Input)
	}
	return o.Operator(n), err == nil, err
}

// recordOutcome adds the run's pending outcome and failure to the next commit.
func (d *Driver) recordOutcome(cmd *scheduler.Command) {
	d.next.Head.Outcome = outcomes[cmd.PendingOutcome]
	d.next.Head.Failure, d.next.Dirty = nil, true
	if len(cmd.Failures) > 0 {
		d.next.Head.Failure = cmd.Failures[0]
	}
}

var outcomes = [...]storage.Outcome{
	scheduler.NothingPending: storage.Unfinished, scheduler.PendingTimedOut: storage.TimedOut, scheduler.PendingCancelled: storage.Cancelled,
	scheduler.PendingFailed: storage.FailedOutcome,
}

// pendingOf returns the pending outcome and failure that were stored for a run
// that has not ended.
func pendingOf(run *storage.Run) (scheduler.PendingOutcome, *atom.Failure) {
	if run.State.Ended() {
		return scheduler.NothingPending, nil
	}
	switch run.Outcome {
	case storage.TimedOut:
		return scheduler.PendingTimedOut, run.Failure
	case storage.Cancelled:
		return scheduler.PendingCancelled, run.Failure
	case storage.FailedOutcome:
		return scheduler.PendingFailed, run.Failure
	default:
		return scheduler.NothingPending, nil
	}
}

// replaceInput gives the run other values of some of its inputs.
func (d *Driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return storeError(d.claim.Run, err)
	}
	held := d.next.Hold(whole)
	d.next.Input, d.about.Input, d.next.Dirty = &held, whole, true
	return nil
}
