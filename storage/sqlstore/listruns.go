package sqlstore

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Runs implements [storage.Reader.Runs].
func (s *Store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	var out []storage.Run
	err := s.listing(ctx, &q, func(r *session) error {
		l, err := newListing(ctx, r, &q)
		if err != nil || l.empty() {
			return err
		}
		rows, err := l.rows(ctx, r)
		if err != nil {
			return err
		}
		labels, err := labelsOf(ctx, r, rows)
		if err != nil {
			return err
		}
		for i := range rows {
			run, err := rows[i].decode(ctx, r, q.Brief)
			if err != nil {
				return err
			}
			run.Labels = labels[run.Number]
			out = append(out, run)
		}
		return nil
	})
	return out, err
}

// CountRuns implements [storage.Reader.CountRuns].
func (s *Store) CountRuns(ctx context.Context, q storage.RunQuery) (n int, err error) {
	err = s.listing(ctx, &q, func(r *session) error {
		l, err := newListing(ctx, r, &q)
		if err == nil && !l.empty() {
			n, err = l.count(ctx, r)
		}
		return err
	})
	return n, err
}

// listing checks the query and reads with f.
func (s *Store) listing(ctx context.Context, q *storage.RunQuery, f func(*session) error) error {
	if err := q.Check(); err != nil {
		return err
	}
	if !q.Due.IsZero() && !s.readOnly {
		if err := s.evictDead(ctx); err != nil {
			return err
		}
	}
	return s.view(ctx, f)
}

// selectLabelsOf starts with the runs, so that it finds the labels by their key.
var selectLabelsOf = statement{
	onSQLite: `SELECT l.run, l.key, l.value FROM json_each($1) AS v JOIN labels l ON l.run = v.value AND l.key <> ''`,
	onPostgres: `SELECT l.run, l.key, l.value FROM json_array_elements_text(CAST($1 AS JSON)) AS v (n)
JOIN labels l ON l.run = CAST(v.n AS BIGINT) AND l.key <> ''`,
}

// labelsOf reads the labels of all these runs at once.
func labelsOf(ctx context.Context, r *session, runs []runRow) (map[int64]map[string]string, error) {
	var labeled []int64
	for i := range runs {
		if runs[i].Has&hasLabels != 0 {
			labeled = append(labeled, runs[i].N)
		}
	}
	if len(labeled) == 0 {
		return map[int64]map[string]string{}, nil
	}
	list, err := json.Marshal(labeled)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Run        int64
		Key, Value string
	}
	if err := r.All(ctx, &rows, selectLabelsOf[r.dialect.db], string(list)); err != nil {
		return nil, err
	}
	out := make(map[int64]map[string]string, len(labeled))
	for _, row := range rows {
		if out[row.Run] == nil {
			out[row.Run] = map[string]string{}
		}
		out[row.Run][row.Key] = row.Value
	}
	return out, nil
}

// needsPerson is [storage.Run.NeedsPerson] as SQL. Its first half is the condition of the index runs_person.
const needsPerson = `(undone = ` + undoFailed + ` OR state = ` + flowHeld + ` AND failure IS NOT NULL)
	AND (undone = ` + undoFailed + ` OR outcome = 0)`

const selectLargest = selectRuns +
	` WHERE r.n IN (SELECT n FROM runs ORDER BY bytes DESC, n DESC LIMIT $1) ORDER BY r.bytes DESC, r.n DESC`

// Largest returns up to limit runs that have written the most bytes, largest first, see [storage.Growth]. It reads
// the row of every run.
func (s *Store) Largest(ctx context.Context, limit int) (runs []storage.Run, err error) {
	err = s.view(ctx, func(r *session) error {
		var rows []runRow
		if err := r.Once(ctx, &rows, selectLargest, limit); err != nil {
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

// selectLabeled starts with the labels: CROSS JOIN keeps SQLite from changing the order. For PostgreSQL the keys
// are an array, because otherwise PostgreSQL may read all rows to find the keys.
var selectLabeled = statement{
	onSQLite: `SELECT l.key, o.id FROM labels l CROSS JOIN origins o ON o.n = l.run
WHERE l.key IN (SELECT value FROM json_each($1)) AND l.value = $2 AND l.class < ` + openClasses,
	onPostgres: `SELECT l.key, o.id FROM labels l JOIN origins o ON o.n = l.run
WHERE l.key = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON)))) AND l.value = $2
AND l.class < ` + openClasses,
}

// Labeled implements [storage.Reader.Labeled].
func (s *Store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	if err := rules.CheckLabeled(value, keys); err != nil || len(keys) == 0 {
		return nil, err
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	var rows []struct{ Key, ID string }
	if err := s.glance(ctx, func(r *session) error {
		return r.All(ctx, &rows, selectLabeled[r.dialect.db], string(list),
			value)
	}); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, row := range rows {
		out[row.Key] = append(out[row.Key], row.ID)
	}
	for _, ids := range out { // sorted here, because with ORDER BY PostgreSQL reads all runs in their order
		slices.Sort(ids)
	}
	return out, nil
}
