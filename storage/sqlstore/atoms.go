package sqlstore

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/storage"
)

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

func writeAtoms(ctx context.Context, w *session, n int64, atoms []storage.Atom, forget []string) error {
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
