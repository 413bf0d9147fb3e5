package faultstore

import (
	"context"
	"database/sql"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

type transactor struct {
	*store

	tx backend.Transactor
}

func (f *store) Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error {
	return f.do(ctx, Call{Method: "Create", Run: run.ID}, func() error { return f.Store.Create(ctx, run, checks...) })
}

func (f *store) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return f.begin(ctx, Call{Method: "Begin", Run: run}, func() (backend.Claim, *backend.Snapshot, error) {
		return f.Store.Begin(ctx, run)
	})
}

func (f *store) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return f.begin(ctx, Call{Method: "Seize", Run: run}, func() (backend.Claim, *backend.Snapshot, error) {
		return f.Store.Seize(ctx, run)
	})
}

func (f *store) BeginIsolated(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return f.begin(ctx, Call{Method: "BeginIsolated", Run: run}, func() (backend.Claim, *backend.Snapshot, error) {
		return f.Store.BeginIsolated(ctx, run)
	})
}

func (f *store) EndIsolation(ctx context.Context, claim backend.Claim) error {
	return f.do(ctx, Call{Method: "EndIsolation", Run: claim.Run}, func() error {
		return f.Store.EndIsolation(ctx, claim)
	})
}

func (f *store) begin(ctx context.Context, c Call, call func() (backend.Claim, *backend.Snapshot, error)) (
	backend.Claim, *backend.Snapshot, error,
) {
	var snap *backend.Snapshot
	claim, err := answer(ctx, f, c, func() (claim backend.Claim, err error) {
		claim, snap, err = call()
		return claim, err
	})
	if err != nil {
		return backend.Claim{}, nil, err
	}
	return claim, snap, nil
}

func (f *store) Due(ctx context.Context, q backend.DueQuery) (due []backend.Due, next time.Time, err error) {
	due, err = answer(ctx, f, Call{Method: "Due"}, func() (due []backend.Due, err error) {
		due, next, err = f.Store.Due(ctx, q)
		return due, err
	})
	return due, next, err
}

func (f *store) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	return f.do(ctx, Call{Method: "Commit", Run: claim.Run, Checkpoint: cp}, func() error {
		return f.Store.Commit(ctx, claim, cp)
	})
}

func (f *store) Release(ctx context.Context, claim backend.Claim, wakeups int64, due time.Time) error {
	return f.do(ctx, Call{Method: "Release", Run: claim.Run}, func() error {
		return f.Store.Release(ctx, claim, wakeups,
			due)
	})
}

func (f *store) Step(ctx context.Context, run string, step func(*backend.Snapshot) (*backend.Checkpoint, error)) error {
	return f.do(ctx, Call{Method: "Step", Run: run}, func() error { return f.Store.Step(ctx, run, step) })
}

func (f *transactor) Transact(ctx context.Context, claim backend.Claim, key string, fn func(*sql.Tx) (atom.Value,
	error),
) (atom.Value, error) {
	return answer(ctx, f.store, Call{Method: "Transact", Run: claim.Run}, func() (atom.Value, error) {
		return f.tx.Transact(ctx, claim, key, fn)
	})
}
