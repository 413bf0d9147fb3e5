package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// Of the atoms that are not in the row of their run, see recent, live ones are in
// one table, the others in another; a path is in one of them.
const (
	upsertLive = `INSERT INTO atoms (run, path, record) VALUES (?, ?, ?)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`
	upsertSettled = `INSERT INTO settled (run, path, record) VALUES (?, ?, ?)
ON CONFLICT (run, path) DO UPDATE SET record = excluded.record`
	deleteLive      = `DELETE FROM atoms WHERE run = ? AND path = ?`
	deleteSettled   = `DELETE FROM settled WHERE run = ? AND path = ?`
	selectLiveAtoms = `SELECT path, record FROM atoms WHERE run = ?1 AND path > ?2 ORDER BY path LIMIT ?3 + 0`
	selectAtoms     = `SELECT path, record FROM atoms WHERE run = ?1 AND path > ?2
UNION ALL SELECT path, record FROM settled WHERE run = ?1 AND path > ?2 ORDER BY path LIMIT ?3 + 0`
	selectAtom = `SELECT path, record FROM atoms WHERE run = ?1 AND path = ?2
UNION ALL SELECT path, record FROM settled WHERE run = ?1 AND path = ?2`
)

// writeAtoms writes records into the tables, and reports in which there may be
// some now. A record that changes its table is not looked for where there are
// none.
func writeAtoms(ctx context.Context, w *session, n int64, atoms []inline.Atom, has parts) (parts, error) {
	for i := range atoms {
		a := &atoms[i]
		upsert, remove, in, other := upsertSettled, deleteLive, hasSettled, hasAtoms
		if a.IsLive() {
			upsert, remove, in, other = upsertLive, deleteSettled, hasAtoms, hasSettled
		}
		path := string(a.Path)
		if err := w.post(ctx, nil, upsert, n, path, a.Record); err != nil {
			return has, err
		}
		if has&other != 0 {
			if err := w.post(ctx, nil, remove, n, path); err != nil {
				return has, err
			}
		}
		has |= in
	}
	return has, nil
}

func forgetAtoms(ctx context.Context, w *session, n int64, forget []string, has parts) error {
	for _, path := range forget {
		for query, in := range map[string]parts{deleteLive: hasAtoms, deleteSettled: hasSettled} {
			if has&in == 0 {
				continue
			}
			if err := w.post(ctx, nil, query, n, path); err != nil {
				return err
			}
		}
	}
	return nil
}

const selectRecent = `SELECT entries, recent FROM runs WHERE n = ?`

// recentRow is the part of a run's row that goes with the tables of its records.
type recentRow struct {
	Entries int64
	Recent  []byte
}

func readRecent(ctx context.Context, s *session, n int64) (row recentRow, err error) {
	err = s.get(ctx, &row, selectRecent, n)
	return row, err
}

// liveAtoms returns the atoms of a run that are needed to go on with it, ordered
// by path.
func liveAtoms(ctx context.Context, s *session, row *runRow) ([]storage.Atom, error) {
	return listAtoms(ctx, s, row.N, row.Recent, row.Has&hasAtoms != 0, storage.AtomQuery{Live: true})
}

// listAtoms returns the atoms that a query selects. Those in the tables are left out when
// there are none.
func listAtoms(ctx context.Context, s *session, n int64, row inline.Records, tables bool, q storage.AtomQuery) ([]storage.Atom, error) {
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
		limit += len(newest) // the row may hold newer records of so many
	}
	var rows []inline.Row
	if tables {
		if err := s.all(ctx, &rows, query, n, q.After, limitOr(limit)); err != nil {
			return nil, err
		}
	}
	rows = inline.Over(rows, newest, func(path string, a *inline.Atom) bool { return path > q.After && (!q.Live || a.IsLive()) })
	return decodeAtoms(ctx, s, n, rows, q.Limit)
}

// decodeAtoms reads as many of the rows as there is space for, up to limit; 0 is all.
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

// Atoms returns the atoms of a run that a query selects.
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

// Atom returns one atom of a run.
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

// AtomsAt returns the atoms at these paths.
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
		if err := r.all(ctx, &older, selectAtom, n, path); err != nil {
			return nil, err
		}
		rows = append(rows, older...)
	}
	return decodeAtoms(ctx, r, n, rows, 0)
}

// Tries returns all that a retry decides by.
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

// writeFlush writes what leaves the row, and reports in which tables there may be
// atoms now.
func writeFlush(ctx context.Context, w *session, t *inline.Flush, n int64, has parts) (parts, error) {
	if len(t.History) > 0 {
		if err := w.post(ctx, nil, insertHistory, n, t.First, t.History); err != nil {
			return has, err
		}
	}
	return writeAtoms(ctx, w, n, t.Atoms, has)
}
