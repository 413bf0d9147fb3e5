package engine

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Await waits for the end of a run and returns its record, whichever process drives the run. It does not drive the
// run. Any number of callers may wait, at no cost for each. If a run has ended and was resumed
// since, Await waits for its next end.
//
// If ctx ends first, Await returns the error of ctx. If the store fails, or the run does not exist or is deleted
// meanwhile, it returns a *[StoreError]; the latter wraps [storage.ErrNotFound].
func Await(ctx context.Context, store storage.Store, run string) (storage.Run, error) {
	row, err := backend.Of(store).AwaitEnd(ctx, run)
	if err != nil && ctx.Err() != nil {
		return storage.Run{}, ctx.Err()
	}
	return row, session.Wrap(run, err)
}
