package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/states"
)

// Rerun lets Run drive a run that has ended. A run that was undone begins anew. A
// run that succeeded succeeds again without doing anything. A run that failed goes
// on where it stands. If a failed run was not undone, use [RetryFrom] instead: with
// [flow.LeaveFailed] there is nothing to go on with, and the run ends REVERTED, as in
// TaskFlow. A run of a language does not begin anew: Run returns an error that wraps
// [ErrRefused]. Start another run.
func Rerun() RunOption { return again{} }

type again struct{}

func (again) begin(*beginning) error { return nil }

var errNoAgain = errors.New("a run of a language does not begin anew; start another")

// Reset makes a run that has ended PENDING again, as if it had never run, except
// that its history stays and that its atoms have new incarnations, so that their
// idempotency keys are others: all of it in one commit, or nothing. What it did is
// not undone by that, and stays done. It returns an error that wraps [ErrRefused]
// when the run has not ended, or is one of a language; *[storage.OwnedError] when
// a live process owns it; and *[StoreError], which wraps [storage.ErrNotFound] when
// there is no such run.
func (e *Engine) Reset(ctx context.Context, id string) error {
	d, snap, err := e.begun(ctx, id, e.env.Store.Seize, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	err = states.CheckReset(snap.Run.State, states.FlowPending)
	if err == nil && d.Grows() {
		err = errNoAgain
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w: run %q: %w", ErrRefused, id, err), e.releaseUndriven(ctx, d.Claim(), snap))
	}
	return d.Reset() //nolint:contextcheck // the driver has its own
}
