package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// The newest records of a run are in its row, see package inline. Of the other records, the table atoms has the
// live ones and the table settled has the rest. The record of a path is in only one of the two tables.
var (
	upsertLive = statement{
		onSQLite: `INSERT INTO atoms (run, path, record) VALUES (?, ?, ?) ON CONFLICT (run, path) DO UPDATE
			SET record = excluded.record`,
		onPostgres: `INSERT INTO atoms (run, path, record) VALUES ($1, $2, $3) ON CONFLICT (run, path) DO UPDATE
			SET record = excluded.record`,
	}
	upsertSettled = statement{
		onSQLite: `INSERT INTO settled (run, path, record) VALUES (?, ?, ?) ON CONFLICT (run, path) DO UPDATE
			SET record = excluded.record`,
		onPostgres: `INSERT INTO settled (run, path, record) VALUES ($1, $2, $3) ON CONFLICT (run, path) DO UPDATE
			SET record = excluded.record`,
	}
	deleteLive = statement{
		onSQLite:   `DELETE FROM atoms WHERE run = ? AND path = ?`,
		onPostgres: `DELETE FROM atoms WHERE run = $1 AND path = $2`,
	}
	deleteSettled = statement{
		onSQLite:   `DELETE FROM settled WHERE run = ? AND path = ?`,
		onPostgres: `DELETE FROM settled WHERE run = $1 AND path = $2`,
	}
)

const (
	selectLiveAtoms = `SELECT path, record FROM atoms WHERE run = $1 AND path > $2 ORDER BY path LIMIT $3 + 0`
	// selectAtoms limits each part, because PostgreSQL sorts all that the parts select.
	selectAtoms = `SELECT path, record FROM
  (SELECT path, record FROM atoms WHERE run = $1 AND path > $2 ORDER BY path LIMIT $3 + 0) AS live
UNION ALL SELECT path, record FROM
  (SELECT path, record FROM settled WHERE run = $1 AND path > $2 ORDER BY path LIMIT $3 + 0) AS settled
ORDER BY path LIMIT $3 + 0`
	selectAtom = `SELECT path, record FROM atoms WHERE run = $1 AND path = $2
UNION ALL SELECT path, record FROM settled WHERE run = $1 AND path = $2`
)

// writeAtoms writes records into the tables. It deletes the older record of a path from the other table. It skips
// that delete if the other table has no records of the run. It returns which tables may have records of the run
// now.
func writeAtoms(ctx context.Context, w *session, n int64, atoms []inline.Atom, has parts) (parts, error) {
	for i := range atoms {
		a := &atoms[i]
		upsert, remove, in, other := upsertSettled, deleteLive, hasSettled, hasAtoms
		if a.IsLive() {
			upsert, remove, in, other = upsertLive, deleteSettled, hasAtoms, hasSettled
		}
		path := string(a.Path)
		if err := w.Post(ctx, nil, upsert[w.dialect.db], n, path, a.Record); err != nil {
			return has, err
		}
		if has&other != 0 {
			if err := w.Post(ctx, nil, remove[w.dialect.db], n, path); err != nil {
				return has, err
			}
		}
		has |= in
	}
	return has, nil
}

func forgetAtoms(ctx context.Context, w *session, n int64, forget []string, has parts) error {
	for _, path := range forget {
		for _, from := range [...]struct {
			table  parts
			remove statement
		}{{hasAtoms, deleteLive}, {hasSettled, deleteSettled}} {
			if has&from.table == 0 {
				continue
			}
			if err := w.Post(ctx, nil, from.remove[w.dialect.db], n, path); err != nil {
				return err
			}
		}
	}
	return nil
}

const selectRecent = `SELECT entries, recent FROM runs WHERE n = $1`

// recentRow contains the newest records of a run, and the number of its history entries.
type recentRow struct {
	Entries int64
	Recent  []byte
}

func readRecent(ctx context.Context, s *session, n int64) (row recentRow, err error) {
	err = s.Get(ctx, &row, selectRecent, n)
	return row, err
}

// liveAtoms returns the atoms that a process needs to resume a run, ordered by path.
func liveAtoms(ctx context.Context, s *session, row *runRow) ([]storage.Atom, error) {
	return listAtoms(ctx, s, row.N, row.Recent, row.Has&hasAtoms != 0, storage.AtomQuery{Live: true})
}

// listAtoms returns the atoms that a query selects. If tables is false, it reads only the run's row.
func listAtoms(ctx context.Context, s *session, n int64, row inline.Records, tables bool,
	q storage.AtomQuery,
) ([]storage.Atom, error) {
	newest, err := row.ByPath()
	if err != nil {
		return nil, err
	}
	query := selectAtoms
	if q.Live {
		query = selectLiveAtoms
	}
	limit := q.Limit
	if limit > 0 {
		limit += len(newest) // the row may hold newer records for this many paths
	}
	var rows []inline.Row
	if tables {
		if err := s.All(ctx, &rows, query, n, q.After, limitOr(limit)); err != nil {
			return nil, err
		}
	}
	rows = inline.Over(rows, newest, func(path string, a *inline.Atom) bool {
		return path > q.After &&
			(!q.Live || a.IsLive())
	})
	return decodeAtoms(ctx, s, n, rows, q.Limit)
}

// decodeAtoms decodes up to limit rows, or all if limit is 0, and stops when a page is full.
func decodeAtoms(ctx context.Context, s *session, n int64, rows []inline.Row, limit int) ([]storage.Atom, error) {
	payload, space := payloadsOf(ctx, s, n), codec.NewSpace(limit)
	out := make([]storage.Atom, 0, len(rows))
	for _, row := range rows {
		if space.Full() {
			break
		}
		a, err := codec.DecodeAtom(row.Path, row.Record, space.Counting(payload))
		if err != nil {
			return nil, err
		}
		space.Take(len(row.Record))
		out = append(out, a)
	}
	return out, nil
}

// Atoms implements [storage.Reader.Atoms].
func (s *Store) Atoms(ctx context.Context, run string, q storage.AtomQuery) (out []storage.Atom, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		row, err := readRecent(ctx, r, n)
		if err == nil {
			out, err = listAtoms(ctx, r, n, row.Recent, true, q)
		}
		return err
	})
	return out, err
}

// Atom implements [storage.Reader.Atom].
func (s *Store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	found, err := s.AtomsAt(ctx, run, path)
	if err != nil {
		return storage.Atom{}, err
	}
	if len(found) == 0 {
		return storage.Atom{}, noAtom(run, path)
	}
	return found[0], nil
}

// AtomsAt implements [storage.Reader.AtomsAt].
func (s *Store) AtomsAt(ctx context.Context, run string, paths ...string) (out []storage.Atom, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		out, err = atomsAt(ctx, r, n, paths)
		return err
	})
	return out, err
}

func atomsAt(ctx context.Context, r *session, n int64, paths []string) ([]storage.Atom, error) {
	row, err := readRecent(ctx, r, n)
	if err != nil {
		return nil, err
	}
	newest, err := inline.Records(row.Recent).ByPath()
	if err != nil {
		return nil, err
	}
	var rows []inline.Row
	for _, path := range paths {
		if a, there := newest[path]; there {
			rows = append(rows, inline.Row{Path: path, Record: a.Record})
			continue
		}
		var older []inline.Row
		if err := r.All(ctx, &older, selectAtom, n, path); err != nil {
			return nil, err
		}
		rows = append(rows, older...)
	}
	return decodeAtoms(ctx, r, n, rows, 0)
}

// Tries implements [storage.Reader.Tries].
func (s *Store) Tries(ctx context.Context, run, path string) (h atom.History, err error) {
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		found, err := atomsAt(ctx, r, n, []string{path})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return noAtom(run, path)
		}
		h, err = codec.AllTries(&found[0], payloadsOf(ctx, r, n))
		return err
	})
	return h, err
}

func noAtom(run, path string) error {
	return fmt.Errorf("%w: atom %q of run %q", storage.ErrNotFound, path, run)
}

// writeFlush moves records from the row to the tables, and returns which tables may have atoms now.
func writeFlush(ctx context.Context, w *session, t *inline.Flush, n int64, has parts) (parts, error) {
	if len(t.History) > 0 {
		if err := writeHistory(ctx, w, n, t.First, t.History); err != nil {
			return has, err
		}
	}
	return writeAtoms(ctx, w, n, t.Atoms, has)
}
