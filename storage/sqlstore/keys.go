package sqlstore

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	selectHolder = `SELECT o.id, o.n FROM open_keys k JOIN origins o ON o.n = k.run WHERE k.key = $1`
	// insertOpenKey fails on a server if another transaction has taken the key meanwhile. The transaction is then
	// repeated, and finds the holder.
	insertOpenKey = `INSERT INTO open_keys (key, run) VALUES ($1, $2)`
	deleteOpenKey = `DELETE FROM open_keys WHERE run = $1`
	selectKey     = `SELECT key FROM origins WHERE n = $1`
	// strayKeys are the keys that no open run holds.
	strayKeys = `SELECT k.key FROM open_keys k LEFT JOIN runs r ON r.n = k.run
WHERE r.n IS NULL OR r.state IN (2, 3, 4) ORDER BY k.key LIMIT $1 + 0`
)

// A holder is the run that holds a key.
type holder struct {
	ID string
	N  int64
}

// holderOf returns the run that holds the key; a zero holder if there is none.
func holderOf(ctx context.Context, s *session, key string) (h holder, err error) {
	err = s.Get(ctx, &h, selectHolder, key)
	if errors.Is(err, storage.ErrNotFound) {
		return holder{}, nil
	}
	return h, err
}

// keyFree returns a *[storage.KeyTakenError] if another run holds the key of a new run. If the new run exists already,
// the error is taken.
func keyFree(ctx context.Context, s *session, run *storage.Run, taken error) error {
	if run.Key == "" {
		return nil
	}
	h, err := holderOf(ctx, s, run.Key)
	if err != nil || h.ID == "" || h.ID == run.ID {
		return err
	}
	_, err = numberOf(ctx, s, run.ID)
	switch {
	case err == nil:
		return taken
	case errors.Is(err, storage.ErrNotFound):
		return &storage.KeyTakenError{Key: run.Key, Run: h.ID}
	default:
		return err
	}
}

// takeKey makes run n the holder of the key, which is free.
func takeKey(ctx context.Context, w *session, n int64, key string) error {
	if key == "" {
		return nil
	}
	return w.Post(ctx, nil, insertOpenKey, key, n)
}

// writeKey releases the key of a run that ends, or takes the key of a run that is reopened.
func writeKey(ctx context.Context, w *session, n int64, cp *backend.Checkpoint, has parts) error {
	switch {
	case cp.Head.State.Ended() && has&hasKey != 0:
		return w.Post(ctx, nil, deleteOpenKey, n)
	case !cp.TakeKey || cp.Head.State.Ended():
		return nil
	}
	var key string
	if err := w.Get(ctx, &key, selectKey, n); err != nil || key == "" {
		return err
	}
	h, err := holderOf(ctx, w, key)
	switch {
	case err != nil:
		return err
	case h.N == n:
		return nil
	case h.ID != "":
		return &storage.KeyTakenError{Key: key, Run: h.ID}
	default:
		return takeKey(ctx, w, n, key)
	}
}

// OpenRun implements [backend.Keys.OpenRun].
func (s *store) OpenRun(ctx context.Context, key string) (id string, err error) {
	err = s.glance(ctx, func(r *session) error {
		var h holder
		err := r.Get(ctx, &h, selectHolder, key)
		id = h.ID
		return notFound(err, "open run with the key", key)
	})
	return id, err
}

// StrayKeys implements [backend.Keys.StrayKeys].
func (s *store) StrayKeys(ctx context.Context, limit int) (keys []string, err error) {
	err = s.view(ctx, func(r *session) error { return r.All(ctx, &keys, strayKeys, limitOr(limit)) })
	return keys, err
}

const (
	releaseStrayKeys = `DELETE FROM open_keys WHERE NOT EXISTS
  (SELECT 1 FROM runs r WHERE r.n = open_keys.run AND r.state NOT IN (2, 3, 4))`
	// lostKeys are the open runs that do not hold the key with which they were created, the oldest first.
	lostKeys = `SELECT o.key, r.n FROM runs r JOIN origins o ON o.n = r.n
WHERE o.key <> '' AND r.state NOT IN (2, 3, 4) AND NOT EXISTS (SELECT 1 FROM open_keys k WHERE k.run = r.n)
ORDER BY r.n`
)

// RepairKeys: see [Store.RepairKeys].
func (s *store) RepairKeys(ctx context.Context) (released, restored int64, err error) {
	err = s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) (err error) {
		restored = 0
		if released, err = w.Exec(ctx, releaseStrayKeys); err != nil {
			return err
		}
		var lost []struct {
			Key string
			N   int64
		}
		if err := w.All(ctx, &lost, lostKeys); err != nil {
			return err
		}
		for _, l := range lost {
			h, err := holderOf(ctx, w, l.Key)
			if err != nil {
				return err
			}
			if h.ID != "" {
				continue
			}
			if err := takeKey(ctx, w, l.N, l.Key); err != nil {
				return err
			}
			restored++
		}
		return nil
	}, arrivals: wakeup.Moves})
	return released, restored, err
}
