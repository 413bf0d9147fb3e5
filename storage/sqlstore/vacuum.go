package sqlstore

import (
	"context"

	"github.com/jmoiron/sqlx"
)

// vacuumPages is the number of pages that one transaction returns to the file system. It is small enough that other
// writes do not wait noticeably.
const vacuumPages = 500

const (
	freePages = "PRAGMA freelist_count"
	giveBack  = "PRAGMA incremental_vacuum(500)"
)

// Vacuum: see [Store.Vacuum].
func (s *store) Vacuum(ctx context.Context) (int64, error) {
	if s.server != nil {
		return 0, nil // autovacuum keeps the space for later rows
	}
	given := int64(0)
	for {
		var before, after int64
		err := s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) error {
			if err := w.Get(ctx, &before, freePages); err != nil || before == 0 {
				return err
			}
			// The statement returns one row without columns for each page.
			if err := w.Each(ctx, giveBack, nil, func(*sqlx.Rows) (bool, error) { return true, nil }); err != nil {
				return err
			}
			err := w.Get(ctx, &after, freePages)
			w.Changed += before - after
			w.Pages += vacuumPages
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
