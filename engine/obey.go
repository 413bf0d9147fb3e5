package engine

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// refuse returns why an order cannot be followed by the run as it was loaded.
func (d *driver) refuse(o *Order) error {
	if o.err != nil {
		return o.err
	}
	if o.kind == letterSuspend {
		return nil
	}
	so := o.of(0)
	err := d.s.Refuse(&so)
	if err == nil && d.grows() && o.path != "" {
		if o.kind == letterRevertTo {
			err = d.onStack(o.path)
		} else {
			err = d.onTop(o.path)
		}
	}
	if _, broken := errors.AsType[*StoreError](err); err == nil || broken {
		return err
	}
	return fmt.Errorf("%w: run %q: %w", ErrRefused, d.claim.Run, err)
}

// onStack returns an error unless the path is one of those that can be undone.
func (d *driver) onStack(path string) error {
	undos, err := d.undoStack(0)
	if err != nil {
		return err
	}
	for _, u := range undos {
		if u.Path == path {
			return nil
		}
	}
	return fmt.Errorf("%q is not among what was done and can be undone", path)
}

// onTop returns an error unless the path is the one that is to be undone next.
func (d *driver) onTop(path string) error {
	undos, err := d.undoStack(1)
	if err != nil || len(undos) == 0 || undos[0].Path == path {
		return err
	}
	return fmt.Errorf("the undoing did not come to a stop at %q, but at %q", path, undos[0].Path)
}

// undoStack returns up to limit entries of the undo stack from the top; 0 is all.
func (d *driver) undoStack(limit int) ([]storage.Undo, error) {
	undos, err := d.e.store.Undos(d.storing, d.claim.Run, limit)
	return undos, wrapStore(d.claim.Run, err)
}

// of returns the order as the scheduler takes it.
func (o *Order) of(n int64) scheduler.Order {
	so := scheduler.Order{N: n, Path: o.path, Why: o.why}
	switch o.kind {
	case letterCancel:
		so.Kind, so.Undo = scheduler.Stop, o.body.Undo
	case letterRevertTo:
		so.Kind, so.Hold, so.Keep = scheduler.Rewind, true, true
	case letterRetry:
		so.Kind = scheduler.Rewind
	case letterRetryRevert:
		so.Kind = scheduler.RetryRevert
	case letterSkip:
		so.Kind = scheduler.Skip
	}
	if so.Why == nil {
		so.Why = cancelled("")
	}
	return so
}

// ordered returns the order that a letter is, or false when it is none.
func ordered(l *storage.Letter) (o Order, ok bool) {
	switch l.Kind {
	case letterSuspend, letterCancel, letterRevertTo, letterRetry, letterRetryRevert, letterSkip:
		o = Order{kind: l.Kind, path: l.Path, why: l.Failure}
		o.err = l.Body.Decode(&o.body)
		return o, true
	default:
		return o, false
	}
}

// accept returns what the scheduler is to be told of an order, and whether it is
// to be told. An order that cannot be followed is dropped.
func (d *driver) accept(o *Order, n int64) (so scheduler.Order, tell bool, err error) {
	if err := d.refuse(o); err != nil {
		if _, broken := errors.AsType[*StoreError](err); broken {
			return so, false, err
		}
		d.e.log.Warn("an order was dropped", "run", d.claim.Run, "order", o.kind, "why", err)
		d.taken(n)
		return so, false, nil
	}
	d.e.log.Info("an order came", "run", d.claim.Run, "order", o.kind, "atom", o.path)
	if o.kind == letterSuspend {
		d.taken(n)
		d.quit = true
		return so, false, nil
	}
	if len(o.body.Input) > 0 {
		err = d.replaceInput(o.body.Input)
	}
	return o.of(n), err == nil, err
}

// doom notes how the run is going to end.
func (d *driver) doom(cmd *scheduler.Command) {
	d.head.Outcome = outcomes[cmd.Fate]
	d.head.Failure, d.dirty = nil, true
	if len(cmd.Failures) > 0 {
		d.head.Failure = cmd.Failures[0]
	}
}

var outcomes = [...]storage.Outcome{
	scheduler.FateNone: storage.Unfinished, scheduler.FateTimedOut: storage.TimedOut, scheduler.FateCancelled: storage.Cancelled,
	scheduler.FateFailed: storage.FailedOutcome,
}

// fateOf returns what was noted of a run that is still on its way to its end.
func fateOf(run *storage.Run) (scheduler.Fate, *atom.Failure) {
	if run.State.Ended() {
		return scheduler.FateNone, nil
	}
	switch run.Outcome {
	case storage.TimedOut:
		return scheduler.FateTimedOut, run.Failure
	case storage.Cancelled:
		return scheduler.FateCancelled, run.Failure
	case storage.FailedOutcome:
		return scheduler.FateFailed, run.Failure
	default:
		return scheduler.FateNone, nil
	}
}

// replaceInput gives the run other values of some of its inputs.
func (d *driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return d.storeError(err)
	}
	held := d.hold(whole)
	d.cp.Input, d.about.Input, d.dirty = &held, whole, true
	return nil
}
