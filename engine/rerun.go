package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Again lets Run drive a run that has ended: one that was undone begins anew,
// one that succeeded succeeds again without doing anything. One that failed goes
// on where it stands; for one that was not undone use [RetryFrom] instead, for
// with [NeverResolve] there is nothing to go on with, and it ends REVERTED, as
// TaskFlow has it. Run returns an error that wraps [ErrRefused] for a run of a
// language, which does not begin anew; start another.
func Rerun() RunOption { return again{} }

type again struct{}

func (again) begin(*beginning) error { return nil }

var errNoAgain = errors.New("a run of a language does not begin anew; start another")

// Reset makes a run that has ended PENDING again, as if it had never run, except
// that its history stays and that its atoms have new incarnations, so that their
// idempotency keys are others: all of it in one commit, or nothing. What it did is
// not undone by that, and stays done. It returns an error that wraps [ErrRefused]
// when the run has not ended, or is one of a language; *[storage.OwnedError] when
// somebody alive has it; and *[StoreError], which wraps [storage.ErrNotFound] when
// there is no such run.
func (e *Engine) Reset(ctx context.Context, id string) error {
	d, snap, err := e.begun(ctx, id, e.store.Seize, nil)
	if err != nil {
		return err
	}
	defer d.release()
	err = states.CheckReset(snap.Run.State, states.FlowPending)
	if err == nil && d.grows() {
		err = errNoAgain
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w: run %q: %w", ErrRefused, id, err), e.giveBack(ctx, d.claim, snap))
	}
	if err := d.feed(scheduler.Event{Kind: scheduler.Reset}); err != nil { //nolint:contextcheck // the driver has its own
		return err
	}
	h := &d.head
	h.Outcome, h.Undo, h.Output, h.Failure = storage.Unfinished, storage.UndoNone, storage.Held{}, nil
	h.Started, h.Ended, h.Hold = time.Time{}, time.Time{}, false
	h.Release, h.Wakeups, d.dirty = true, d.wakeups, true
	h.Memory = atom.Null
	return d.flush()
}
