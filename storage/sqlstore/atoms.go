package sqlstore

import (
	"context"
	"errors"
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
		onPostgres: `INSERT INTO atoms (run, path, record) SELECT v.run, v.path, v.record
FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS v (run, path, record)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`,
	}
	upsertSettled = statement{
		onSQLite: `INSERT INTO settled (run, path, record) VALUES (?, ?, ?) ON CONFLICT (run, path) DO UPDATE
			SET record = excluded.record`,
		onPostgres: `INSERT INTO settled (run, path, record) SELECT v.run, v.path, v.record
FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS v (run, path, record)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`,
	}
	deleteLive = statement{
		onSQLite: `DELETE FROM atoms WHERE run = ? AND path = ?`,
		onPostgres: `DELETE FROM atoms USING unnest($1::bigint[], $2::text[]) AS v (run, path)
WHERE atoms.run = v.run AND atoms.path = v.path`,
	}
	deleteSettled = statement{
		onSQLite: `DELETE FROM settled WHERE run = ? AND path = ?`,
		onPostgres: `DELETE FROM settled USING unnest($1::bigint[], $2::text[]) AS v (run, path)
WHERE settled.run = v.run AND settled.path = v.path`,
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

// selectRecent starts with the run's id, so that a reader needs no statement to find its number.
const selectRecent = `SELECT r.n, r.entries, r.recent FROM origins o JOIN runs r ON r.n = o.n WHERE o.id = $1`

// recentRow contains the number of a run, its newest records, and the number of its history entries.
type recentRow struct {
	N       int64
	Entries int64
	Recent  []byte
}

func readRecent(ctx context.Context, s *session, run string) (row recentRow, err error) {
	err = s.Get(ctx, &row, selectRecent, run)
	return row, notFound(err, "run", run)
}

// viewRecent reads records of a run, beginning with the newest. If the run does not exist, it returns an error.
func (s *store) viewRecent(ctx context.Context, run string, f func(r *session, row *recentRow) error) error {
	return s.view(ctx, func(r *session) error {
		row, err := readRecent(ctx, r, run)
		if err != nil {
			return err
		}
		return f(r, &row)
	})
}

// listAtoms returns the atoms that a query selects.
func (row *recentRow) listAtoms(ctx context.Context, s *session, q storage.AtomQuery) ([]storage.Atom, error) {
	newest, err := inline.Records(row.Recent).ByPath()
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
	if err := s.All(ctx, &rows, query, row.N, q.After, limitOr(limit)); err != nil {
		return nil, err
	}
	rows = inline.Over(rows, newest, func(path string, a *inline.Atom) bool {
		return path > q.After &&
			(!q.Live || a.IsLive())
	})
	return decodeAtoms(rows, q.Limit, payloadsOf(ctx, s, row.N))
}

// decodeAtoms decodes up to limit rows, or all if limit is 0, and stops when a page is full.
func decodeAtoms(rows []inline.Row, limit int, payload codec.Payloads) ([]storage.Atom, error) {
	space := codec.NewSpace(limit)
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

// Atoms implements [backend.Reader.Atoms].
func (s *store) Atoms(ctx context.Context, run string, q storage.AtomQuery) (out []storage.Atom, err error) {
	err = s.viewRecent(ctx, run, func(r *session, row *recentRow) (err error) {
		out, err = row.listAtoms(ctx, r, q)
		return err
	})
	return out, err
}

// Atom implements [backend.Reader.Atom].
func (s *store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	found, err := s.AtomsAt(ctx, run, path)
	if err != nil {
		return storage.Atom{}, err
	}
	if len(found) == 0 {
		return storage.Atom{}, noAtom(run, path)
	}
	return found[0], nil
}

// errBeyond is the error of a read of the run's row that needs other tables.
var errBeyond = errors.New("sqlstore: not in the row of the run")

// AtomsAt implements [backend.Reader.AtomsAt]. Most callers ask for an atom that has just begun, which is in the run's
// row.
func (s *store) AtomsAt(ctx context.Context, run string, paths ...string) (out []storage.Atom, err error) {
	err = s.glance(ctx, func(r *session) error {
		row, err := readRecent(ctx, r, run)
		if err == nil {
			out, err = row.atomsAt(paths, func(string) ([]inline.Row, error) { return nil, errBeyond },
				func(int64) (atom.Value, error) { return nil, errBeyond })
		}
		return err
	})
	if !errors.Is(err, errBeyond) {
		return out, err
	}
	err = s.viewRecent(ctx, run, func(r *session, row *recentRow) (err error) {
		out, err = row.atomsAt(paths, olderAtoms(ctx, r, row.N), payloadsOf(ctx, r, row.N))
		return err
	})
	return out, err
}

// olderAtoms returns a function that reads the record of a path from the tables.
func olderAtoms(ctx context.Context, r *session, n int64) func(path string) ([]inline.Row, error) {
	return func(path string) (rows []inline.Row, err error) {
		err = r.All(ctx, &rows, selectAtom, n, path)
		return rows, err
	}
}

// atomsAt returns the atoms of some paths. It calls older for those that are not in the row.
func (row *recentRow) atomsAt(paths []string, older func(path string) ([]inline.Row, error), payload codec.Payloads,
) ([]storage.Atom, error) {
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
		found, err := older(path)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return decodeAtoms(rows, 0, payload)
}

// Tries implements [backend.Reader.Tries].
func (s *store) Tries(ctx context.Context, run, path string) (h atom.History, err error) {
	err = s.viewRecent(ctx, run, func(r *session, row *recentRow) error {
		payload := payloadsOf(ctx, r, row.N)
		found, err := row.atomsAt([]string{path}, olderAtoms(ctx, r, row.N), payload)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return noAtom(run, path)
		}
		h, err = codec.AllTries(&found[0], payload)
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
