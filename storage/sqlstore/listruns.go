package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Runs implements [backend.Reader.Runs].
func (s *store) Runs(ctx context.Context, q storage.RunQuery) (runs []storage.Run, err error) {
	err = s.listing(ctx, &q, func(r *session) error {
		l, err := newListing(ctx, r, &q)
		if err == nil && !l.empty() {
			runs, _, err = l.runs(ctx, r)
		}
		return err
	})
	return runs, err
}

// Look implements [backend.Reader.Look]. If runs are checked one by one, it first finds the place up to which it looks,
// in the index alone.
func (s *store) Look(ctx context.Context, q storage.RunQuery, most int) (found backend.LookResult, err error) {
	err = s.listing(ctx, &q, func(r *session) error {
		if err := onlyIndexes(ctx, r); err != nil {
			return err
		}
		l, err := newListing(ctx, r, &q)
		if err != nil || l.empty() {
			return err
		}
		if l.checksRuns() {
			if found.Last, err = l.reach(ctx, r, max(most, 1)); err != nil {
				return err
			}
			l = l.to(found.Last)
		}
		if found.Runs, found.More, err = l.runs(ctx, r); found.More {
			found.Last = nil
		}
		return err
	})
	return found, err
}

// useIndexes makes PostgreSQL read indexes in their order and look rows up one by one, for this transaction. Without
// statistics, or with some thousand rows, PostgreSQL would otherwise read and sort whole tables to find a bounded
// number of rows. It would also compile queries, because it overestimates their cost. It must plan each query for its
// arguments: they determine which index is good.
const useIndexes = `SELECT set_config(name, value, true) FROM (VALUES ('enable_seqscan', 'off'),
  ('enable_bitmapscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'), ('enable_sort', 'off'),
  ('max_parallel_workers_per_gather', '0'), ('jit', 'off'), ('plan_cache_mode', 'auto')) AS v (name, value)`

func onlyIndexes(ctx context.Context, r *session) error {
	if !r.dialect.locks {
		return nil
	}
	var set []string
	return r.Once(ctx, &set, useIndexes)
}

// checksRuns reports whether the listing may read many runs that the query does not select.
func (l *listing) checksRuns() bool {
	open := slices.ContainsFunc(l.q.States, func(s states.Flow) bool { return !s.Ended() })
	return !l.few && (len(l.checks) > 0 || open && l.index != `runs_created`)
}

// to returns the listing of the runs up to a place.
func (l *listing) to(place *storage.Run) *listing {
	to, _, _ := listingOf(l.q, l.dialect, l.by, place)
	to.classes = l.classes
	return to
}

// runs reads the runs of the page, with their labels. More says that the page is full.
func (l *listing) runs(ctx context.Context, r *session) (runs []storage.Run, more bool, err error) {
	rows, err := l.rows(ctx, r)
	if err != nil {
		return nil, false, err
	}
	labels, err := labelsOf(ctx, r, rows)
	if err != nil {
		return nil, false, err
	}
	space := codec.NewSpace(l.q.Limit)
	for i := 0; i < len(rows) && !space.Full(); i++ {
		run, err := rows[i].decode(ctx, r, l.q.Brief)
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			run.Err = ofRun(run.ID, err)
			run.Failure = unreadable(run.Err)
		case err != nil:
			return nil, false, err
		}
		run.Labels = labels[run.Number]
		runs = append(runs, run)
		space.Take(codec.SizeOfRun(&run))
	}
	return runs, space.Full() || len(runs) < len(rows), nil
}

// CountRuns implements [backend.Reader.CountRuns].
func (s *store) CountRuns(ctx context.Context, q storage.RunQuery) (n int, err error) {
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
func (s *store) listing(ctx context.Context, q *storage.RunQuery, f func(*session) error) error {
	if err := backend.CheckRunQuery(q); err != nil {
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

// Largest: see [Store.Largest].
func (s *store) Largest(ctx context.Context, limit int) (runs []storage.Run, err error) {
	err = s.view(ctx, func(r *session) error {
		rows, err := each[runRow](ctx, r, selectLargest, limit)
		if err != nil {
			return err
		}
		runs = make([]storage.Run, len(rows))
		for i := range rows {
			if runs[i], err = rows[i].record(ctx, r); errors.Is(err, storage.ErrCorrupt) {
				runs[i].Err, runs[i].Failure = err, unreadable(err)
			} else if err != nil {
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

// Labeled implements [backend.Reader.Labeled].
func (s *store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
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
