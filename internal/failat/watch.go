package failat

import (
	"context"
	"sync/atomic"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// DieAt returns a store whose process dies after n commits. It passes n commits to s and then
// closes s: nothing more is written, and the runs of the process have no owner. What an atom did
// after the last commit is done but not recorded. [engine.Engine.Run] returns an
// *[engine.StoreError] that wraps [storage.ErrClosed].
//
// To resume the run afterwards, pass a store that shares its records with another one,
// such as the result of Join of a [memstore.New].
func DieAt(s backend.Store, n int) backend.Store {
	var commits atomic.Int64
	return watch(&watched{
		Store: s,
		committed: func() {
			if commits.Add(1) >= int64(n) {
				_ = s.Close() // a dead process ignores it
			}
		},
		dead: func() bool { return commits.Load() >= int64(n) },
	})
}

// A watched store reports its writes.
type watched struct {
	backend.Store

	begun     func()      // called when a run was taken over; may be nil
	committed func()      // called when a checkpoint was committed
	dead      func() bool // reports whether nothing may be written any more; may be nil
}

// A database is a watched store whose store has users' tables.
type database struct {
	*watched
	backend.Transactor
}

// watch returns w as a store with the abilities of the store in it.
func watch(w *watched) backend.Store {
	if tx, ok := w.Store.(backend.Transactor); ok {
		return database{w, tx}
	}
	return w
}

func (w *watched) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	claim, snap, err := w.Store.Begin(ctx, run)
	if err == nil && w.begun != nil {
		w.begun()
	}
	return claim, snap, err
}

func (w *watched) BeginIsolated(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	claim, snap, err := w.Store.BeginIsolated(ctx, run)
	if err == nil && w.begun != nil {
		w.begun()
	}
	return claim, snap, err
}

func (w *watched) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	claim, snap, err := w.Store.Seize(ctx, run)
	if err == nil && w.begun != nil {
		w.begun()
	}
	return claim, snap, err
}

func (w *watched) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if w.dead != nil && w.dead() {
		_ = w.Close() // a dead process ignores it
		return storage.ErrClosed
	}
	err := w.Store.Commit(ctx, claim, cp)
	if err == nil {
		w.committed()
	}
	return err
}

func (w *watched) Step(ctx context.Context, run string, step func(*backend.Snapshot) (*backend.Checkpoint,
	error),
) error {
	if w.dead != nil && w.dead() {
		_ = w.Close() // a dead process ignores it
		return storage.ErrClosed
	}
	err := w.Store.Step(ctx, run, step)
	if err == nil {
		w.committed()
	}
	return err
}
