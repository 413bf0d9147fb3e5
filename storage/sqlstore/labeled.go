package sqlstore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ebbflow/ebb/storage/internal/rules"
)

// selectLabeled begins with the labels: CROSS JOIN keeps SQLite from changing the
// order. States 2 to 4 are those of runs that have ended.
const selectLabeled = `SELECT l.key, o.id FROM labels l CROSS JOIN runs r ON r.n = l.run CROSS JOIN origins o ON o.n = l.run
WHERE l.key IN (SELECT value FROM json_each(?)) AND l.value = ? AND r.state NOT IN (` + flowSuccess + `, ` + flowFailure + `, ` + flowReverted + `)`

// Labeled returns the runs that have not ended, by a label of theirs.
func (s *Store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	if err := rules.CheckLabeled(value, keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	var rows []struct{ Key, ID string }
	if err := s.glance(ctx, func(r *session) error { return r.all(ctx, &rows, selectLabeled, string(list), value) }); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, row := range rows {
		out[row.Key] = append(out[row.Key], row.ID)
	}
	for _, ids := range out { // not by the database, or PostgreSQL reads all runs in their order
		slices.Sort(ids)
	}
	return out, nil
}
