package engine

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// EndToken ends the attempt that waits under an open token, see [atom.Deferrable], whichever process drives its run.
// When it returns nil, the end is committed, and no later command can take it away. It returns the token that has
// ended, and an error that wraps one of these; then nothing has changed:
//
//   - [storage.ErrNotFound] if the token does not exist
//   - [storage.ErrGone] if it is not open
//   - [storage.ErrTaken] if another worker has taken the work, see end.Take
//   - [storage.ErrInvalid] if the result is not of the type that the flow wants; the error shows what fits
func EndToken(ctx context.Context, store storage.Store, token string, end storage.TokenEnd) (storage.Token, error) {
	return backend.Of(store).EndToken(ctx, token, end)
}

// KeepToken is the heartbeat of a worker that has taken the work of a token, see [Work]: it extends the worker's lease,
// and stores what the worker reports. It returns the token, whose GiveUp says whether the worker should give up. It
// succeeds even if the lease has expired, unless another worker has taken the work since. It returns the errors of
// [EndToken].
func KeepToken(ctx context.Context, store storage.Store, token string, k storage.Heartbeat) (storage.Token, error) {
	return backend.Of(store).KeepToken(ctx, token, k)
}

// Beat is a heartbeat of the party that has an open token, see [atom.Deferral]. It returns the errors of [EndToken].
func Beat(ctx context.Context, store storage.Store, token string) (storage.Token, error) {
	return backend.Of(store).Beat(ctx, token)
}

// SetLimit sets how many runs of a flow, or with one value of a label, may be driven at once, and how many jobs may be
// claimed in a period. All processes keep to it. It replaces the limit with the same Flow and Label. A limit without
// Runs and Rate removes that limit. Runs that a process already drives continue, even if they are more than the limit
// allows. If the limit is not valid, or the database has its greatest number of limits, the error wraps
// [storage.ErrInvalid].
func SetLimit(ctx context.Context, store storage.Store, limit storage.Limit) error {
	return backend.Of(store).SetLimit(ctx, limit)
}
