package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/storage"
)

const (
	insertHistory = `INSERT INTO history (run, first, event, entries) VALUES (?, ?, ?, ?)`
	selectHistory = `SELECT first, entries FROM history
WHERE run = ?1 AND first >= coalesce((SELECT max(first) FROM history WHERE run = ?1 AND first <= ?2), 0) ORDER BY first`
)

type historyRow struct {
	First   int64  `db:"first"`
	Entries []byte `db:"entries"`
}

func writeHistory(ctx context.Context, w *session, n int64, entries []storage.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var event any
	if i := slices.IndexFunc(entries, func(e storage.Entry) bool { return e.Kind == storage.EntryEvent }); i >= 0 {
		event = entries[i].Number
	}
	_, err := w.exec(ctx, insertHistory, n, entries[0].Seq, event, storage.AppendHistory(nil, entries))
	return err
}

// History returns entries with numbers above after.
func (s *Store) History(ctx context.Context, run string, after int64, limit int) (out []storage.Entry, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		var rows []historyRow
		err := r.each(ctx, selectHistory, []any{n, after + 1}, func(found *sqlx.Rows) (bool, error) {
			var row historyRow
			err := found.StructScan(&row)
			rows = append(rows, row)
			// Enough once this row begins beyond the page.
			return limit <= 0 || row.First <= after+int64(limit), err
		})
		if err != nil {
			return err
		}
		payload := payloadsOf(ctx, r, n)
		for _, row := range rows {
			left := 0
			if limit > 0 {
				if left = limit - len(out); left == 0 {
					break
				}
			}
			entries, err := storage.DecodeHistory(row.First, row.Entries, after, left, payload)
			if err != nil {
				return fmt.Errorf("%w (run %q)", err, run)
			}
			out = append(out, entries...)
		}
		return nil
	})
	return out, err
}
