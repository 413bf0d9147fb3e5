package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
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

// writeAtoms writes records into the tables, and reports in which there may be
// some now. A record that changes its table is not looked for where there are
// none.
func writeAtoms(ctx context.Context, w *session, n int64, atoms []recentAtom, has parts) (parts, error) {
	for i := range atoms {
		a := &atoms[i]
		upsert, remove, in, other := upsertSettled, deleteLive, hasSettled, hasAtoms
		if a.flags&recentLive != 0 {
			upsert, remove, in, other = upsertLive, deleteSettled, hasAtoms, hasSettled
		}
		path := string(a.path)
		if err := w.post(ctx, nil, upsert, n, path, a.record); err != nil {
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
	var rows []atomRow
	if row.Has&hasAtoms != 0 {
		if err := s.all(ctx, &rows, selectLiveAtoms, row.N); err != nil {
			return nil, err
		}
	}
	rows, err := inlineRecords(row.Recent).over(rows, liveAtom)
	if err != nil {
		return nil, err
	}
	return decodeAtoms(ctx, s, row.N, rows)
}

func decodeAtoms(ctx context.Context, s *session, n int64, rows []atomRow) ([]storage.Atom, error) {
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
	err = s.viewRun(ctx, run, func(r *session, n int64) error {
		row, err := readRecent(ctx, r, n)
		if err != nil {
			return err
		}
		var rows []atomRow
		if err := r.all(ctx, &rows, selectAtoms, n); err != nil {
			return err
		}
		if rows, err = inlineRecords(row.Recent).over(rows, anyAtom); err != nil {
			return err
		}
		out, err = decodeAtoms(ctx, r, n, rows)
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
	newest, err := inlineRecords(row.Recent).byPath()
	if err != nil {
		return nil, err
	}
	var rows []atomRow
	for _, path := range paths {
		if a, there := newest[path]; there {
			rows = append(rows, atomRow{path, a.record})
			continue
		}
		var older []atomRow
		if err := r.all(ctx, &older, selectAtom, n, path); err != nil {
			return nil, err
		}
		rows = append(rows, older...)
	}
	return decodeAtoms(ctx, r, n, rows)
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
		h, err = found[0].AllTries(payloadsOf(ctx, r, n))
		return err
	})
	return h, err
}

func noAtom(run, path string) error {
	return fmt.Errorf("%w: atom %q of run %q", storage.ErrNotFound, path, run)
}
