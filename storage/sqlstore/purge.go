package sqlstore

import (
	"cmp"
	"context"
	"errors"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// selectState also says whether the run still has to return messages to their senders.
const selectState = `SELECT r.n, r.state, r.owner, o.root,
  CASE WHEN EXISTS (SELECT 1 FROM messages WHERE run = r.n AND receipt <> '') THEN 1 ELSE 0 END AS owes
FROM runs r JOIN origins o ON o.n = r.n WHERE o.id = $1`

const deleteJobsOf = `DELETE FROM jobs WHERE run = $1`

// deleteAll deletes the records of a run, table by table.
var deleteAll = [...]string{
	`DELETE FROM labels WHERE run = $1`,
	`DELETE FROM audit WHERE run = $1`,
	`DELETE FROM atoms WHERE run = $1`,
	`DELETE FROM settled WHERE run = $1`,
	`DELETE FROM undo WHERE run = $1`,
	`DELETE FROM history WHERE run = $1`,
	`DELETE FROM payloads WHERE run = $1`,
	`DELETE FROM timers WHERE run = $1`,
	`DELETE FROM tokens WHERE run = $1`,
	`DELETE FROM messages WHERE run = $1`,
	`DELETE FROM message_keys WHERE run = $1`,
	`DELETE FROM transactions WHERE run = $1`,
	`DELETE FROM origins WHERE n = $1`,
	`DELETE FROM runs WHERE n = $1`,
}

// Purge implements [backend.Store.Purge].
func (s *store) Purge(ctx context.Context, runs ...string) (int, error) {
	return s.purge(ctx, runs, false)
}

// Discard implements [backend.Store.Discard].
func (s *store) Discard(ctx context.Context, runs ...string) (int, error) {
	return s.purge(ctx, runs, true)
}

// purge deletes runs: in any state, or only those that Purge deletes.
func (s *store) purge(ctx context.Context, runs []string, inAnyState bool) (int, error) {
	purged := 0
	err := s.update(ctx, &write{alone: s.dialect.locks, runs: runs, do: func(ctx context.Context, w *session) error {
		purged = 0
		for _, id := range runs {
			gone, err := purge(ctx, w, id, inAnyState)
			if err != nil {
				return err
			}
			if gone {
				purged++
			}
		}
		return nil
	}})
	if err != nil {
		return 0, err
	}
	return purged, nil
}

func purge(ctx context.Context, w *session, id string, inAnyState bool) (bool, error) {
	var row struct {
		N     int64
		State uint8
		Owner string
		Root  string
		Owes  int
	}
	if err := w.hold(ctx, id); err != nil {
		return false, err
	}
	err := w.Get(ctx, &row, selectState, id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil || !inAnyState && (!states.Flow(row.State).Ended() || row.Owner != "" || row.Owes > 0) {
		return false, err
	}
	if inAnyState {
		if err := w.Post(ctx, nil, deleteOpenKey, row.N); err != nil {
			return false, err
		}
		if err := w.Post(ctx, nil, deleteJobsOf, id); err != nil {
			return false, err
		}
	}
	for _, query := range deleteAll {
		if err := w.Post(ctx, nil, query, row.N); err != nil {
			return false, err
		}
	}
	return true, w.forget(ctx, cmp.Or(row.Root, id))
}
