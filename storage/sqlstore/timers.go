package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

const (
	upsertTimer = `INSERT INTO timers (run, path, kind, incarnation, due) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`
	deleteTimer     = `DELETE FROM timers WHERE run = ? AND path = ? AND kind = ?`
	selectRunTimers = `SELECT path, kind, incarnation, due FROM timers WHERE run = ? ORDER BY due, path, kind`
)

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
			err = w.post(ctx, nil, deleteTimer, n, t.Path, t.Kind)
		} else {
			err = w.post(ctx, nil, upsertTimer, n, t.Path, t.Kind, t.Incarnation, micros(t.Due))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// RunTimers returns the timers of one run.
func (s *Store) RunTimers(ctx context.Context, run string) (timers []storage.TimerRow, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		timers, err = readTimers(ctx, r, n, run)
		return err
	})
	return timers, err
}

func readTimers(ctx context.Context, s *session, n int64, run string) ([]storage.TimerRow, error) {
	var rows []timerRow
	err := s.all(ctx, &rows, selectRunTimers, n)
	out := make([]storage.TimerRow, len(rows))
	for i, r := range rows {
		out[i] = storage.TimerRow{Run: run, Path: r.Path, Kind: storage.TimerKind(r.Kind), Incarnation: r.Incarnation, Due: r.Due.time()}
	}
	return out, err
}
