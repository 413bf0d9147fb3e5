package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Runs that the same limits count together are in one bucket, and the row of each run has the bucket's number. To
// count driven runs, the store reads only the rows that have an owner, which are few. It finds due runs bucket by
// bucket: a bucket whose limit is reached costs the same, however many runs wait in it.

const (
	bucketFields = `l.n, l.flow, l.labels`
	// selectDriven counts the runs that have an owner, except one run.
	selectDriven = `SELECT ` + bucketFields + `, count(*) AS runs FROM runs r JOIN buckets l ON l.n = r.bucket
WHERE r.bucket IS NOT NULL AND r.owner <> '' AND r.n <> $1 GROUP BY ` + bucketFields
	// selectBuckets jumps from bucket to bucket that contains runs due by a given time.
	selectBuckets = `WITH RECURSIVE waiting (n) AS (
  SELECT min(bucket) FROM runs WHERE bucket IS NOT NULL AND due IS NOT NULL
  UNION ALL SELECT (SELECT min(bucket) FROM runs WHERE bucket > waiting.n AND bucket IS NOT NULL
  AND due IS NOT NULL) FROM waiting WHERE waiting.n IS NOT NULL
)
SELECT ` + bucketFields + `, (SELECT min(due) FROM runs WHERE bucket = l.n AND due IS NOT NULL) AS due
FROM waiting JOIN buckets l ON l.n = waiting.n`
	selectBucket = `SELECT ` + bucketFields + ` FROM buckets l WHERE l.n = $1`
	selectAnyOf  = `SELECT n FROM runs WHERE bucket = $1 LIMIT 1`
	bucketNumber = `SELECT n FROM buckets WHERE flow = $1 AND labels = $2`
	insertBucket = `INSERT INTO buckets (flow, labels) VALUES ($1, $2) ON CONFLICT (flow, labels) DO UPDATE
		SET labels = excluded.labels RETURNING n`
	setBucket = `UPDATE runs SET bucket = $1 WHERE n = $2`

	clearBuckets     = `UPDATE runs SET bucket = NULL WHERE bucket IS NOT NULL`
	deleteBuckets    = `DELETE FROM buckets`
	selectUnfinished = `SELECT o.n, o.flow FROM origins o JOIN runs r ON r.n = o.n WHERE o.n > $1
		AND r.ended IS NULL ORDER BY o.n LIMIT $2 + 0`
)

// selectSoon counts the runs that the caller of Due has loaded and will soon own. The condition on owner stands
// behind the one on the number, because otherwise PostgreSQL may start with all runs without an owner.
var selectSoon = statement{
	onSQLite: `SELECT ` + bucketFields +
		`, count(*) AS runs FROM origins o JOIN runs r ON r.n = o.n JOIN buckets l ON l.n = r.bucket
WHERE CASE WHEN r.n = o.n THEN r.owner = '' END AND o.id IN (SELECT value FROM json_each($1)) GROUP BY ` + bucketFields,
	onPostgres: `SELECT ` + bucketFields +
		`, count(*) AS runs FROM origins o JOIN runs r ON r.n = o.n JOIN buckets l ON l.n = r.bucket
WHERE CASE WHEN r.n = o.n THEN r.owner = '' END
AND o.id = ANY (ARRAY(SELECT json_array_elements_text(CAST($1 AS JSON)))) GROUP BY ` + bucketFields,
}

// bucketRow is a bucket, with the counts that a query adds.
type bucketRow struct {
	unread

	N      int64
	Flow   string
	Labels string
	Runs   int
	Due    moment
}

// bucket returns what the limits count together. If the row is damaged, it takes the labels from a run of the bucket:
// runs that are left out of the counts would let others exceed the limits.
func (l *bucketRow) bucket(ctx context.Context, s *session, t *rules.LimiterState) (*rules.Bucket, error) {
	bucket := rules.Bucket{Flow: l.Flow}
	err := json.Unmarshal([]byte(l.Labels), &bucket.Labels)
	if err == nil {
		return &bucket, nil
	}
	err = fmt.Errorf("%w: bucket %d: %w", storage.ErrCorrupt, l.N, err)
	var n int64
	if s.Get(ctx, &n, selectAnyOf, l.N) != nil || !s.dialect.damage.leftOut(err) {
		return nil, err
	}
	labels, err := readLabels(ctx, s, n)
	if err != nil {
		return nil, err
	}
	bucket, _ = t.Bucket(l.Flow, labels)
	return &bucket, nil
}

// count adds the rows of a query to the state of the limits.
func count(ctx context.Context, s *session, t *rules.LimiterState, query string, args ...any) error {
	_, err := readable(ctx, s, func(row *bucketRow) (bool, error) {
		bucket, err := row.bucket(ctx, s, t)
		if err == nil {
			t.Take(bucket, row.Runs)
		}
		return true, err
	}, query, args...)
	return err
}

// full returns the limit that does not allow another run of the bucket to be driven, not counting run n; nil if
// every limit allows it.
func full(ctx context.Context, s *session, limits []storage.Limit, run string, n,
	bucket int64,
) (*storage.LimitedError, error) {
	var row bucketRow
	err := s.Get(ctx, &row, selectBucket, bucket)
	if errors.Is(err, storage.ErrNotFound) { // the limits have changed meanwhile
		return nil, nil //nolint:nilnil // no limit is known to count it
	}
	if err != nil {
		return nil, err
	}
	t := rules.NewLimiterState(limits)
	is, err := row.bucket(ctx, s, t)
	if err != nil {
		return nil, err
	}
	err = count(ctx, s, t, selectDriven, n)
	return t.Full(run, is), err
}

// assign puts a run into its bucket, if a limit counts the run.
func assign(ctx context.Context, w *session, n int64, flow string, labels map[string]string) error {
	limits, err := keptLimits(ctx, w)
	if err != nil {
		return err
	}
	bucket, counted := rules.NewLimiterState(limits).Bucket(flow, labels)
	if !counted {
		return nil
	}
	text, err := json.Marshal(bucket.Labels) // JSON with sorted members, so that equal labels have equal texts
	if err != nil {
		return err
	}
	var number int64
	err = w.Get(ctx, &number, bucketNumber, bucket.Flow, string(text))
	if errors.Is(err, storage.ErrNotFound) {
		err = w.Get(ctx, &number, insertBucket, bucket.Flow, string(text))
	}
	if err != nil {
		return err
	}
	_, err = w.Exec(ctx, setBucket, number, n)
	return err
}

// dueInBuckets returns the runs that are due in buckets whose limits are not reached. Runs of the bucket with the
// longest wait come first. It also returns when the next run of any bucket is due.
func dueInBuckets(ctx context.Context, r *session, limits []storage.Limit,
	ask *dueAsk,
) (due []runRow, next time.Time, err error) {
	t := rules.NewLimiterState(limits)
	if err := count(ctx, r, t, selectDriven, 0); err != nil {
		return nil, next, err
	}
	if err := count(ctx, r, t, selectSoon[r.dialect.db], ask.except); err != nil {
		return nil, next, err
	}
	type waiting struct {
		*bucketRow
		*rules.Bucket
	}
	buckets, err := readable(ctx, r, func(row *bucketRow) (waiting, error) {
		bucket, err := row.bucket(ctx, r, t)
		return waiting{row, bucket}, err
	}, selectBuckets)
	if err != nil {
		return nil, next, err
	}
	slices.SortFunc(buckets,
		func(a, b waiting) int { return cmp.Or(cmp.Compare(a.Due.Int64, b.Due.Int64), cmp.Compare(a.N, b.N)) })
	for _, l := range buckets {
		if at := l.Due.time(); at.After(ask.by) {
			if next.IsZero() {
				next = at
			}
			break
		}
		available := min(t.Available(l.Bucket), ask.limit-len(due))
		if available == 0 || len(ask.named) > 0 && !slices.Contains(ask.named, l.bucketRow.Flow) {
			continue
		}
		rows, err := each[runRow](ctx, r, selectDueIn[r.dialect.db], append(ask.args(available), l.N)...)
		if err != nil {
			return nil, next, err
		}
		t.Take(l.Bucket, len(rows))
		due = append(due, rows...)
	}
	return due, next, nil
}

// assignAll puts all runs that have not ended into their buckets.
func assignAll(ctx context.Context, w *session) error {
	for _, query := range []string{clearBuckets, deleteBuckets} {
		if _, err := w.Exec(ctx, query); err != nil {
			return err
		}
	}
	limits, err := readLimits(ctx, w)
	if err != nil || len(limits) == 0 {
		return err
	}
	const page = 1000
	for after := int64(0); ; {
		var runs []struct {
			N    int64
			Flow string
		}
		if err := w.All(ctx, &runs, selectUnfinished, after, page); err != nil {
			return err
		}
		for _, run := range runs {
			labels, err := readLabels(ctx, w, run.N)
			if err != nil {
				return err
			}
			if err := assign(ctx, w, run.N, run.Flow, labels); err != nil {
				return err
			}
			after = run.N
		}
		if len(runs) < page {
			return nil
		}
	}
}
