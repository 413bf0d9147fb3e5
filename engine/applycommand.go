package engine

import (
	"errors"
	"fmt"
	"iter"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// refuse returns why the run, as it was loaded, does not allow a command.
func (d *driver) refuse(o *Command) error {
	if o.err != nil {
		return o.err
	}
	if o.kind == messageSuspend {
		return nil
	}
	so := o.of(0)
	err := d.s.Refuse(&so)
	if err == nil && d.grows() && o.path != "" {
		if o.kind == messageRevertTo {
			err = d.onStack(o.path)
		} else {
			err = d.onTop(o.path)
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
func (d *driver) onStack(path string) error {
	for u, err := range d.undoStack(0) {
		if err != nil || u.Path == path {
			return err
		}
	}
	return fmt.Errorf("%q is not among what was done and can be undone", path)
}

// onTop returns an error unless the path is the one that is to be undone next.
func (d *driver) onTop(path string) error {
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
func (d *driver) undoStack(below int64) iter.Seq2[storage.Undo, error] {
	return func(yield func(storage.Undo, error) bool) {
		for u, err := range storage.EachUndo(d.ctx, d.e.store, d.claim.Run, below) {
			if err = wrapStore(d.claim.Run, err); d.ctx.Err() != nil {
				err = ErrStopped
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

// of returns the command in the form that the scheduler takes.
func (o *Command) of(n int64) scheduler.OperatorCommand {
	so := scheduler.OperatorCommand{N: n, Path: o.path, Why: o.why}
	switch o.kind {
	case messageCancel:
		so.Kind, so.Undo = scheduler.Stop, o.body.Undo
	case messageRevertTo:
		so.Kind, so.Hold, so.Keep = scheduler.Rewind, true, true
	case messageRetry:
		so.Kind = scheduler.Rewind
	case messageRetryRevert:
		so.Kind = scheduler.RetryRevert
	case messageSkip:
		so.Kind = scheduler.Skip
	}
	if so.Why == nil {
		so.Why = cancelled("")
	}
	return so
}

// commandOf returns the command that a message carries. It returns false if the
// message is not a command.
func commandOf(l *storage.Message) (o Command, ok bool) {
	switch l.Kind {
	case messageSuspend, messageCancel, messageRevertTo, messageRetry, messageRetryRevert, messageSkip:
		o = Command{kind: l.Kind, path: l.Path, why: l.Failure}
		o.err = l.Body.Decode(&o.body)
		return o, true
	default:
		return o, false
	}
}

// accept returns the command for the scheduler, and whether the scheduler must
// apply it. If the run does not allow the command, accept drops it.
func (d *driver) accept(o *Command, n int64) (so scheduler.OperatorCommand, tell bool, err error) {
	if err := d.refuse(o); err != nil {
		if notOfRun(err) {
			return so, false, err
		}
		d.e.log.Warn("command refused", "run", d.claim.Run, "command", o.kind, "error", err)
		d.next.Take(n)
		return so, false, nil
	}
	d.e.log.Info("command received", "run", d.claim.Run, "command", o.kind, "atom", o.path)
	if o.kind == messageSuspend {
		d.next.Take(n)
		d.quit = true
		return so, false, nil
	}
	if len(o.body.Input) > 0 {
		err = d.replaceInput(o.body.Input)
	}
	return o.of(n), err == nil, err
}

// recordOutcome adds the run's pending outcome and failure to the next commit.
func (d *driver) recordOutcome(cmd *scheduler.Command) {
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
func (d *driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return d.storeError(err)
	}
	held := d.next.Hold(whole)
	d.next.Input, d.about.Input, d.next.Dirty = &held, whole, true
	return nil
}
