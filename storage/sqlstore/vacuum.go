package sqlstore

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// vacuumPages is how many pages one transaction gives back to the file system. The number is
// so small that no other write waits noticeably.
const vacuumPages = 500

const (
	freePages = "PRAGMA freelist_count"
	giveBack  = "PRAGMA incremental_vacuum(500)"
)

// Vacuum gives the space that purged runs took back to the file system, piece by
// piece between the writes of others, and returns how many bytes it gave back.
// Without it, later runs reuse the space. On a server it does nothing:
// PostgreSQL tidies up by itself.
func (s *Store) Vacuum(ctx context.Context) (int64, error) {
	if s.server != nil {
		return 0, nil // autovacuum does it, and keeps the space
	}
	given := int64(0)
	for {
		var before, after int64
		err := s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) error {
			if err := w.get(ctx, &before, freePages); err != nil || before == 0 {
				return err
			}
			// It steps through rows that have no columns, a page each.
			if err := w.each(ctx, giveBack, nil, func(*sqlx.Rows) (bool, error) { return true, nil }); err != nil {
				return err
			}
			err := w.get(ctx, &after, freePages)
			w.changed += before - after
			w.pages += vacuumPages
			return err
		}})
		if err != nil {
			return given, err
		}
		given += (before - after) * pageSize
		if after == 0 || after == before {
			return given, nil
		}
	}
}
