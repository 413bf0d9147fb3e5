package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

const (
	insertPayload = `INSERT INTO payloads (run, ref, data) VALUES (?, ?, ?)`
	selectPayload = `SELECT data FROM payloads WHERE run = ? AND ref = ?`
)

func writePayloads(w *session, n int64, payloads []storage.Payload) error {
	for i := range payloads {
		data := []byte(payloads[i].Data)
		if data == nil {
			data = []byte{} // no value is a value here
		}
		if _, err := w.exec(context.Background(), insertPayload, n, payloads[i].Ref, data); err != nil {
			return err
		}
	}
	return nil
}

// payloadsOf returns what reads the payloads of a run, each once.
func payloadsOf(ctx context.Context, s *session, n int64) storage.Payloads {
	read := map[int64]atom.Value{}
	return func(ref int64) (atom.Value, error) {
		if data, known := read[ref]; known {
			return data, nil
		}
		var data []byte
		err := s.get(ctx, &data, selectPayload, n, ref)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, fmt.Errorf("%w: payload %d is not there", storage.ErrCorrupt, ref)
		}
		if err == nil {
			read[ref] = data
		}
		return data, err
	}
}

// Live atoms are in one table, the others in another; a path is in one of them.
const (
	upsertLive = `INSERT INTO atoms (run, path, record) VALUES (?, ?, ?)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`
	upsertSettled = `INSERT INTO settled (run, path, record) VALUES (?, ?, ?)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`
	deleteLive      = `DELETE FROM atoms WHERE run = ? AND path = ?`
	deleteSettled   = `DELETE FROM settled WHERE run = ? AND path = ?`
	selectLiveAtoms = `SELECT path, record FROM atoms WHERE run = ?1 ORDER BY path`
	selectAtoms     = `SELECT path, record FROM atoms WHERE run = ?1
UNION ALL SELECT path, record FROM settled WHERE run = ?1 ORDER BY path`
	selectAtom = `SELECT path, record FROM atoms WHERE run = ?1 AND path = ?2
UNION ALL SELECT path, record FROM settled WHERE run = ?1 AND path = ?2`
)

type atomRow struct {
	Path   string
	Record []byte
}

func writeAtoms(w *session, n int64, atoms []storage.Atom, forget []string) error {
	ctx := context.Background()
	var record []byte
	for i := range atoms {
		upsert, other := upsertSettled, deleteLive
		if atoms[i].Live {
			upsert, other = upsertLive, deleteSettled
		}
		record, _ = atoms[i].AppendBinary(record[:0])
		if _, err := w.exec(ctx, upsert, n, atoms[i].Path, record); err != nil {
			return err
		}
		if _, err := w.exec(ctx, other, n, atoms[i].Path); err != nil {
			return err
		}
	}
	for _, path := range forget {
		for _, query := range [...]string{deleteLive, deleteSettled} {
			if _, err := w.exec(ctx, query, n, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// readAtoms returns the atoms that a query selects, ordered by path.
func readAtoms(ctx context.Context, s *session, n int64, query string, args ...any) ([]storage.Atom, error) {
	var rows []atomRow
	if err := s.all(ctx, &rows, query, append([]any{n}, args...)...); err != nil {
		return nil, err
	}
	payload := payloadsOf(ctx, s, n)
	out := make([]storage.Atom, 0, len(rows))
	for _, row := range rows {
		a, err := storage.DecodeAtom(row.Path, row.Record, payload)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Atoms returns all atoms of a run.
func (s *Store) Atoms(ctx context.Context, run string) (out []storage.Atom, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) (err error) {
		out, err = readAtoms(ctx, r, n, selectAtoms)
		return err
	})
	return out, err
}

// Atom returns one atom of a run.
func (s *Store) Atom(ctx context.Context, run, path string) (out storage.Atom, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		found, err := readAtoms(ctx, r, n, selectAtom, path)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%w: atom %q of run %q", storage.ErrNotFound, path, run)
		}
		out = found[0]
		return nil
	})
	return out, err
}

// viewRun reads what belongs to a run, which is there.
func (s *Store) viewRun(ctx context.Context, run string, f func(r *session, n int64) error) error {
	return s.view(ctx, func(r *session) error {
		n, err := numberOf(ctx, r, run)
		if err != nil {
			return err
		}
		return f(r, n)
	})
}

const (
	insertHistory = `INSERT INTO history (run, first, event, entries) VALUES (?, ?, ?, ?)`
	selectHistory = `SELECT first, entries FROM history
WHERE run = ?1 AND first >= coalesce((SELECT max(first) FROM history WHERE run = ?1 AND first <= ?2), 0) ORDER BY first`
)

func writeHistory(w *session, n int64, entries []storage.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var event any
	if i := slices.IndexFunc(entries, func(e storage.Entry) bool { return e.Kind == storage.EntryEvent }); i >= 0 {
		event = entries[i].Number
	}
	_, err := w.exec(context.Background(), insertHistory, n, entries[0].Seq, event, storage.AppendHistory(nil, entries))
	return err
}

// History returns entries with numbers above after.
func (s *Store) History(ctx context.Context, run string, after int64, limit int) (out []storage.Entry, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		var rows []struct {
			First   int64
			Entries []byte
		}
		err := r.each(ctx, selectHistory, []any{n, after + 1}, func(found *sqlx.Rows) (bool, error) {
			row := struct {
				First   int64
				Entries []byte
			}{}
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

const (
	insertUndo  = `INSERT INTO undo (run, n, path) VALUES (?, ?, ?)`
	popUndo     = `DELETE FROM undo WHERE run = ?1 AND n > (SELECT max(n) FROM undo WHERE run = ?1) - ?2`
	selectUndos = `SELECT n, path FROM undo WHERE run = ? ORDER BY n DESC LIMIT ?`
)

func writeUndo(w *session, n int64, cp *storage.Checkpoint) error {
	if cp.Pop > 0 {
		if _, err := w.exec(context.Background(), popUndo, n, cp.Pop); err != nil {
			return err
		}
	}
	for _, u := range cp.Push {
		if _, err := w.exec(context.Background(), insertUndo, n, u.N, u.Path); err != nil {
			return err
		}
	}
	return nil
}

// Undos returns the top of the undo stack.
func (s *Store) Undos(ctx context.Context, run string, limit int) (out []storage.Undo, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		return r.all(ctx, &out, selectUndos, n, limitOr(limit))
	})
	return out, err
}

// limitOr returns SQLite's word for no limit when there is none.
func limitOr(limit int) int {
	if limit <= 0 {
		return -1
	}
	return limit
}

const (
	upsertTimer = `INSERT INTO timers (run, path, kind, incarnation, due) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run, path, kind) DO UPDATE SET incarnation = excluded.incarnation, due = excluded.due`
	deleteTimer  = `DELETE FROM timers WHERE run = ? AND path = ? AND kind = ?`
	selectTimers = `SELECT o.id AS run, t.path, t.kind, t.incarnation, t.due
FROM timers t JOIN runs r ON r.n = t.run JOIN origins o ON o.n = t.run
WHERE t.due <= ? AND r.owner = '' ORDER BY t.due, o.id, t.path, t.kind LIMIT ?`
	selectRunTimers = `SELECT ? AS run, path, kind, incarnation, due FROM timers WHERE run = ? ORDER BY due, path, kind`
)

type timerRow struct {
	Run         string
	Path        string
	Kind        uint8
	Incarnation int
	Due         moment
}

func writeTimers(w *session, n int64, timers []storage.TimerRow) error {
	for i := range timers {
		t := &timers[i]
		var err error
		if t.Due.IsZero() {
			_, err = w.exec(context.Background(), deleteTimer, n, t.Path, t.Kind)
		} else {
			_, err = w.exec(context.Background(), upsertTimer, n, t.Path, t.Kind, t.Incarnation, micros(t.Due))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func timersOf(rows []timerRow) []storage.TimerRow {
	out := make([]storage.TimerRow, len(rows))
	for i, r := range rows {
		out[i] = storage.TimerRow{
			Run: r.Run, Path: r.Path, Kind: storage.TimerKind(r.Kind), Incarnation: r.Incarnation, Due: r.Due.time(),
		}
	}
	return out
}

// Timers returns timers due by then, of runs nobody owns.
func (s *Store) Timers(ctx context.Context, by time.Time, limit int) ([]storage.TimerRow, error) {
	var rows []timerRow
	err := s.view(ctx, func(r *session) error {
		return r.all(ctx, &rows, selectTimers, micros(by), limitOr(limit))
	})
	return timersOf(rows), err
}

// RunTimers returns the timers of one run.
func (s *Store) RunTimers(ctx context.Context, run string) ([]storage.TimerRow, error) {
	var rows []timerRow
	err := s.viewRun(ctx, run, func(r *session, n int64) error {
		return r.all(ctx, &rows, selectRunTimers, run, n)
	})
	return timersOf(rows), err
}
