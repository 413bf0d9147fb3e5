package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

const selectLargest = selectRuns + ` WHERE r.n IN (SELECT n FROM runs ORDER BY bytes DESC, n DESC LIMIT ?) ORDER BY r.bytes DESC, r.n DESC`

// Largest returns up to limit runs that have written most, see [storage.Growth], the
// largest first. It reads the row of every run.
func (s *Store) Largest(ctx context.Context, limit int) (runs []storage.Run, err error) {
	err = s.view(ctx, func(r *session) error {
		var rows []runRow
		if err := r.once(ctx, &rows, selectLargest, limit); err != nil {
			return err
		}
		runs = make([]storage.Run, len(rows))
		for i := range rows {
			if runs[i], err = rows[i].record(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return runs, err
}
