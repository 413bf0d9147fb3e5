package inspect

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// SchedulePage returns up to limit schedules after an id, and whether more follow.
func SchedulePage(ctx context.Context, store backend.Schedules, after string, limit int) (
	page []backend.Schedule, more bool, err error,
) {
	page, err = store.Schedules(ctx, backend.ScheduleQuery{After: after, Limit: limit})
	if err != nil || len(page) == 0 {
		return page, false, err
	}
	rest, err := store.Schedules(ctx, backend.ScheduleQuery{After: page[len(page)-1].ID, Limit: 1})
	return page, len(rest) > 0, err
}

// DefinitionPage returns up to limit definitions of a name, or of all names if it is "", after the one with a hash, and
// whether more follow.
func DefinitionPage(ctx context.Context, store backend.Definitions, name, after string, limit int) (
	page []storage.Definition, more bool, err error,
) {
	q := backend.DefinitionQuery{Name: name, Limit: limit + 1}
	if after != "" {
		place, err := store.Definition(ctx, after)
		if err != nil {
			return nil, false, err
		}
		q.After = &place
	}
	page, err = store.Definitions(ctx, q)
	return page[:min(limit, len(page))], len(page) > limit, err
}
