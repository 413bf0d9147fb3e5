package sqlstore

import (
	"context"
	"math"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

var insertUndo = statement{
	onSQLite:   `INSERT INTO undo (run, n, path) VALUES (?, ?, ?)`,
	onPostgres: `INSERT INTO undo (run, n, path) VALUES ($1, $2, $3)`,
}

const (
	popUndo     = `DELETE FROM undo WHERE run = $1 AND n > (SELECT max(n) FROM undo WHERE run = $1) - $2`
	selectUndos = `SELECT n, path FROM undo WHERE run = $1 AND n < $2 ORDER BY n DESC LIMIT $3 + 0`
)

func writeUndo(ctx context.Context, w *session, n int64, cp *backend.Checkpoint) error {
	if cp.Pop > 0 {
		if err := w.Post(ctx, nil, popUndo, n, cp.Pop); err != nil {
			return err
		}
	}
	for _, u := range cp.Push {
		if err := w.Post(ctx, nil, insertUndo[w.dialect.db], n, u.N, u.Path); err != nil {
			return err
		}
	}
	return nil
}

// Undos implements [backend.Reader.Undos].
func (s *store) Undos(ctx context.Context, run string, below int64, limit int) (out []storage.Undo, err error) {
	if below == 0 {
		below = math.MaxInt64
	}
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		return r.All(ctx, &out, selectUndos, n, below, limitOr(limit))
	})
	return out, err
}

// limitOr returns the limit, or for 0 a number larger than any number of rows. PostgreSQL takes no larger one.
func limitOr(limit int) int {
	if limit <= 0 {
		return math.MaxInt32
	}
	return min(limit, math.MaxInt32)
}
