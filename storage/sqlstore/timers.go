package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

var (
	upsertTimer = statement{
		onSQLite: `INSERT INTO timers (run, path, kind, incarnation, due) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`,
		onPostgres: `INSERT INTO timers (run, path, kind, incarnation, due)
SELECT v.run, v.path, v.kind, v.incarnation, v.due
FROM unnest($1::bigint[], $2::text[], $3::smallint[], $4::bigint[], $5::bigint[])
AS v (run, path, kind, incarnation, due)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`,
	}
	deleteTimer = statement{
		onSQLite: `DELETE FROM timers WHERE run = ? AND path = ? AND kind = ?`,
		onPostgres: `DELETE FROM timers USING unnest($1::bigint[], $2::text[], $3::smallint[]) AS v (run, path, kind)
WHERE timers.run = v.run AND timers.path = v.path AND timers.kind = v.kind`,
	}
)

// selectRunTimers is in the order of the key. In order of due, PostgreSQL would read the timers of all runs.
const selectRunTimers = `SELECT run, path, kind, incarnation, due FROM timers WHERE run = $1 ORDER BY path, kind`

type timerRow struct {
	unread

	Run         int64
	Path        string
	Kind        int64 // wider than the value, as what does not fit ends a whole batch of statements on a server
	Incarnation int
	Due         moment
}

func writeTimers(ctx context.Context, w *session, n int64, timers []storage.TimerRow) error {
	type key struct {
		path string
		kind storage.TimerKind
	}
	for t := range lastOfEach(timers, func(t *storage.TimerRow) key { return key{t.Path, t.Kind} }) {
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

// RunTimers implements [backend.Reader.RunTimers].
func (s *store) RunTimers(ctx context.Context, run string) (timers []storage.TimerRow, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		timers, err = readTimers(ctx, r, n, run)
		return err
	})
	return timers, err
}

func readTimers(ctx context.Context, s *session, n int64, run string) ([]storage.TimerRow, error) {
	timers, err := readable(ctx, s, timersOf(run), selectRunTimers, n)
	return byDue(timers), err
}

// byDue sorts the timers of a run in the order in which they are due.
func byDue(timers []storage.TimerRow) []storage.TimerRow {
	slices.SortStableFunc(timers, func(a, b storage.TimerRow) int { return a.Due.Compare(b.Due) })
	return timers
}

// timersOf returns the function that decodes timers of a run.
func timersOf(run string) func(*timerRow) (storage.TimerRow, error) {
	return func(r *timerRow) (storage.TimerRow, error) { return r.timer(run) }
}

func (r *timerRow) timer(run string) (storage.TimerRow, error) {
	if r.Kind != int64(uint8(r.Kind)) {
		return storage.TimerRow{}, fmt.Errorf("%w: %d is no kind of timer (%s)", storage.ErrCorrupt, r.Kind, r.Path)
	}
	return storage.TimerRow{
		Run: run, Path: r.Path, Kind: storage.TimerKind(r.Kind), Incarnation: r.Incarnation, Due: r.Due.time(),
	}, nil
}
