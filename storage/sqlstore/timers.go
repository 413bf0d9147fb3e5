package sqlstore

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

var (
	upsertTimer = statement{
		onSQLite: `INSERT INTO timers (run, path, kind, incarnation, due) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`,
		onPostgres: `INSERT INTO timers (run, path, kind, incarnation, due) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`,
	}
	deleteTimer = statement{
		onSQLite:   `DELETE FROM timers WHERE run = ? AND path = ? AND kind = ?`,
		onPostgres: `DELETE FROM timers WHERE run = $1 AND path = $2 AND kind = $3`,
	}
)

// selectRunTimers is in the order of the key. In order of due, PostgreSQL would read the timers of all runs.
const selectRunTimers = `SELECT path, kind, incarnation, due FROM timers WHERE run = $1 ORDER BY path, kind`

type timerRow struct {
	Path        string
	Kind        uint8
	Incarnation int
	Due         moment
}

func writeTimers(ctx context.Context, w *session, n int64, timers []storage.TimerRow) error {
	for i := range timers {
		t := &timers[i]
		var err error
		if t.Due.IsZero() {
			err = w.Post(ctx, nil, deleteTimer[w.dialect.db], n, t.Path, t.Kind)
		} else {
			err = w.Post(ctx, nil, upsertTimer[w.dialect.db], n, t.Path, t.Kind, t.Incarnation, micros(t.Due))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RunTimers implements [storage.Reader.RunTimers].
func (s *Store) RunTimers(ctx context.Context, run string) (timers []storage.TimerRow, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		timers, err = readTimers(ctx, r, n, run)
		return err
	})
	return timers, err
}

func readTimers(ctx context.Context, s *session, n int64, run string) ([]storage.TimerRow, error) {
	var rows []timerRow
	err := s.All(ctx, &rows, selectRunTimers, n)
	slices.SortStableFunc(rows, func(a, b timerRow) int { return a.Due.time().Compare(b.Due.time()) })
	out := make([]storage.TimerRow, len(rows))
	for i, r := range rows {
		out[i] = r.row(run)
	}
	return out, err
}

// row returns the timer of a run.
func (r *timerRow) row(run string) storage.TimerRow {
	return storage.TimerRow{
		Run: run, Path: r.Path, Kind: storage.TimerKind(r.Kind), Incarnation: r.Incarnation, Due: r.Due.time(),
	}
}
