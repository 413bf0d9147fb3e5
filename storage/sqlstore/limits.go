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
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// Runs that the same limits count together are in one bucket, whose number is in their
// rows. So the store counts driven runs over the rows that are owned, of which there
// are few. It finds due runs bucket by bucket: a bucket without a free place costs the
// same however many runs wait in it.

const (
	selectLimits  = `SELECT flow, label, runs, rate, per FROM limits ORDER BY flow, label`
	lockLimits    = selectLimits + ` FOR UPDATE`
	selectLimited = `SELECT runs FROM limits WHERE flow = ? AND label = ?`
	putLimit      = `INSERT INTO limits (flow, label, runs, rate, per) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (flow, label) DO UPDATE SET runs = excluded.runs, rate = excluded.rate, per = excluded.per`
	deleteLimit = `DELETE FROM limits WHERE flow = ? AND label = ?`

	bucketFields = `l.n, l.flow, l.labels`
	// selectTraffic counts what is owned but for one run, selectSoon what its driver is about to own; that
	// hides the owner behind the number, or a server may begin with all runs that have none.
	selectTraffic = `SELECT ` + bucketFields + `, count(*) AS runs FROM runs r JOIN buckets l ON l.n = r.bucket
WHERE r.bucket IS NOT NULL AND r.owner <> '' AND r.n <> ? GROUP BY ` + bucketFields
	selectSoon = `SELECT ` + bucketFields + `, count(*) AS runs FROM origins o JOIN runs r ON r.n = o.n JOIN buckets l ON l.n = r.bucket
WHERE CASE WHEN r.n = o.n THEN r.owner = '' END AND o.id IN (SELECT value FROM json_each(?)) GROUP BY ` + bucketFields
	// selectBuckets jumps from bucket to bucket in which runs are due at some time.
	selectBuckets = `WITH RECURSIVE waiting (n) AS (
  SELECT min(bucket) FROM runs WHERE bucket IS NOT NULL AND due IS NOT NULL
  UNION ALL SELECT (SELECT min(bucket) FROM runs WHERE bucket > waiting.n AND bucket IS NOT NULL AND due IS NOT NULL) FROM waiting WHERE waiting.n IS NOT NULL
)
SELECT ` + bucketFields + `, (SELECT min(due) FROM runs WHERE bucket = l.n AND due IS NOT NULL) AS due FROM waiting JOIN buckets l ON l.n = waiting.n`
	selectBucket = `SELECT ` + bucketFields + ` FROM buckets l WHERE l.n = ?`
	bucketNumber = `SELECT n FROM buckets WHERE flow = ? AND labels = ?`
	insertBucket = `INSERT INTO buckets (flow, labels) VALUES (?, ?) ON CONFLICT (flow, labels) DO UPDATE SET labels = excluded.labels RETURNING n`
	setBucket    = `UPDATE runs SET bucket = ? WHERE n = ?`

	clearBuckets     = `UPDATE runs SET bucket = NULL WHERE bucket IS NOT NULL`
	deleteBuckets    = `DELETE FROM buckets`
	selectUnfinished = `SELECT o.n, o.flow FROM origins o JOIN runs r ON r.n = o.n WHERE o.n > ? AND r.ended IS NULL ORDER BY o.n LIMIT ? + 0`
)

// bucketRow is a bucket, with what was asked about it.
type bucketRow struct {
	N      int64
	Flow   string
	Labels string
	Runs   int
	Due    moment
}

func (l *bucketRow) bucket() (*rules.Bucket, error) {
	bucket := &rules.Bucket{Flow: l.Flow}
	if err := json.Unmarshal([]byte(l.Labels), &bucket.Labels); err != nil {
		return nil, fmt.Errorf("%w: bucket %d: %w", storage.ErrCorrupt, l.N, err)
	}
	return bucket, nil
}

// readLimits returns all limits. Within one transaction they are read once.
func readLimits(ctx context.Context, s *session) ([]storage.Limit, error) {
	if s.limits != nil {
		return s.limits, nil
	}
	limits, err := limitsBy(ctx, s, selectLimits)
	if err == nil {
		s.limits = limits
	}
	return limits, err
}

// limitsBy returns the limits that a query selects, never nil.
func limitsBy(ctx context.Context, s *session, query string) ([]storage.Limit, error) {
	var rows []struct {
		Flow, Label string
		Runs, Rate  int
		Per         int64 // microseconds
	}
	if err := s.all(ctx, &rows, query); err != nil {
		return nil, err
	}
	limits := make([]storage.Limit, len(rows))
	for i, r := range rows {
		limits[i] = storage.Limit{Flow: r.Flow, Label: r.Label, Runs: r.Runs, Rate: r.Rate, Per: time.Duration(r.Per) * time.Microsecond}
	}
	return limits, nil
}

// keptLimits returns all limits, which stay so until the transaction ends: a run that
// it makes is seen by a process that sets another one.
func keptLimits(ctx context.Context, w *session) ([]storage.Limit, error) {
	if w.limits == nil && w.dialect.share != "" {
		if err := w.post(ctx, nil, w.dialect.share); err != nil {
			return nil, err
		}
		w.changed-- // it is no row
	}
	return readLimits(ctx, w)
}

// count adds what a query counts.
func count(ctx context.Context, s *session, t *rules.LimiterState, query string, args ...any) error {
	var rows []bucketRow
	if err := s.all(ctx, &rows, query, args...); err != nil {
		return err
	}
	for i := range rows {
		bucket, err := rows[i].bucket()
		if err != nil {
			return err
		}
		t.Take(bucket, rows[i].Runs)
	}
	return nil
}

// full returns the limit that lets no further run of the bucket be driven than
// that of the number; nil when there is none.
func full(ctx context.Context, s *session, limits []storage.Limit, run string, n, bucket int64) (*storage.LimitedError, error) {
	var row bucketRow
	err := s.get(ctx, &row, selectBucket, bucket)
	if errors.Is(err, storage.ErrNotFound) { // the limits have changed since
		return nil, nil //nolint:nilnil // no limit is known to count it
	}
	if err != nil {
		return nil, err
	}
	is, err := row.bucket()
	if err != nil {
		return nil, err
	}
	t := rules.NewLimiterState(limits)
	err = count(ctx, s, t, selectTraffic, n)
	return t.Full(run, is), err
}

// heldLimits returns all limits. Where others write at the same time they do not
// admit anything until this transaction ends.
func heldLimits(ctx context.Context, w *session) ([]storage.Limit, error) {
	if !w.dialect.locks {
		return readLimits(ctx, w)
	}
	return limitsBy(ctx, w, lockLimits)
}

// admit returns a *storage.LimitedError when there is no place for a run of the
// bucket. Nothing is written before.
func admit(ctx context.Context, w *session, run string, n, bucket int64) error {
	if bucket == 0 {
		return nil
	}
	limits, err := heldLimits(ctx, w)
	if err != nil {
		return err
	}
	limited, err := full(ctx, w, limits, run, n, bucket)
	if limited != nil && err == nil {
		return limited
	}
	return err
}

// noPlace returns the limit by which there is no place for a run that is to be
// made; nil when there is none.
func noPlace(ctx context.Context, w *session, run *storage.Run) (*storage.LimitedError, error) {
	limits, err := keptLimits(ctx, w)
	if err != nil {
		return nil, err
	}
	bucket, counted := rules.NewLimiterState(limits).Bucket(run.Flow, run.Labels)
	if !counted {
		return nil, nil //nolint:nilnil // no limit counts it
	}
	if limits, err = heldLimits(ctx, w); err != nil {
		return nil, err
	}
	t := rules.NewLimiterState(limits)
	err = count(ctx, w, t, selectTraffic, 0)
	return t.Full(run.ID, &bucket), err
}

// admit lets a claim begin if there is a place for its run.
func (c *commit) admit(ctx context.Context, w *session) error {
	if c.cp.Head.Release {
		return nil
	}
	return admit(ctx, w, c.claim.Run, c.n, c.bucket)
}

// assign puts a run into its bucket, if a limit counts it.
func assign(ctx context.Context, w *session, n int64, flow string, labels map[string]string) error {
	limits, err := keptLimits(ctx, w)
	if err != nil {
		return err
	}
	bucket, counted := rules.NewLimiterState(limits).Bucket(flow, labels)
	if !counted {
		return nil
	}
	text, err := json.Marshal(bucket.Labels) // members in order
	if err != nil {
		return err
	}
	var number int64
	err = w.get(ctx, &number, bucketNumber, bucket.Flow, string(text))
	if errors.Is(err, storage.ErrNotFound) {
		_, number, err = w.insert(ctx, insertBucket, bucket.Flow, string(text))
	}
	if err != nil {
		return err
	}
	_, err = w.exec(ctx, setBucket, number, n)
	return err
}

// dueInBuckets returns the runs that are due in buckets with a free place, first those of
// the bucket in which one has waited longest, and when the next run is due in any bucket.
func dueInBuckets(ctx context.Context, r *session, limits []storage.Limit, ask *dueAsk) (due []runRow, next time.Time, err error) {
	t := rules.NewLimiterState(limits)
	if err := count(ctx, r, t, selectTraffic, 0); err != nil {
		return nil, next, err
	}
	if err := count(ctx, r, t, selectSoon, ask.except); err != nil {
		return nil, next, err
	}
	var buckets []bucketRow
	if err := r.all(ctx, &buckets, selectBuckets); err != nil {
		return nil, next, err
	}
	slices.SortFunc(buckets, func(a, b bucketRow) int { return cmp.Or(cmp.Compare(a.Due.Int64, b.Due.Int64), cmp.Compare(a.N, b.N)) })
	for i := range buckets {
		l := &buckets[i]
		if at := l.Due.time(); at.After(ask.by) {
			if next.IsZero() {
				next = at
			}
			break
		}
		bucket, err := l.bucket()
		if err != nil {
			return nil, next, err
		}
		available := min(t.Available(bucket), ask.limit-len(due))
		if available == 0 || ask.flow != "" && ask.flow != l.Flow {
			continue
		}
		var rows []runRow
		if err := r.all(ctx, &rows, selectDueIn, append(ask.args(available), l.N)...); err != nil {
			return nil, next, err
		}
		t.Take(bucket, len(rows))
		due = append(due, rows...)
	}
	return due, next, nil
}

// SetLimit sets a limit, and puts all runs that have not ended into their buckets,
// when these are others.
func (s *Store) SetLimit(ctx context.Context, limit storage.Limit) error {
	if err := limit.Check(); err != nil {
		return err
	}
	return s.update(ctx, &write{
		alone: true,
		do: func(ctx context.Context, w *session) error {
			if w.dialect.alter != "" {
				if err := w.post(ctx, nil, w.dialect.alter); err != nil {
					return err
				}
			}
			query, args := putLimit, []any{limit.Flow, limit.Label, limit.Runs, limit.Rate, limit.Per.Microseconds()}
			if limit.None() {
				query, args = deleteLimit, args[:2]
			}
			was := 0
			if err := w.get(ctx, &was, selectLimited, limit.Flow, limit.Label); err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if _, err := w.exec(ctx, query, args...); err != nil {
				return err
			}
			w.limits = nil
			if was == limit.Runs {
				return nil
			}
			return assignAll(ctx, w)
		},
		arrivals: wakeup.Moves,
	})
}

// assignAll puts all runs that have not ended into their buckets.
func assignAll(ctx context.Context, w *session) error {
	for _, query := range []string{clearBuckets, deleteBuckets} {
		if _, err := w.exec(ctx, query); err != nil {
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
		if err := w.all(ctx, &runs, selectUnfinished, after, page); err != nil {
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

// Limits returns all limits.
func (s *Store) Limits(ctx context.Context) (limits []storage.Limit, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		limits, err = readLimits(ctx, r)
		return err
	})
	return limits, err
}

// Limited returns the limit that a run would have to wait for.
func (s *Store) Limited(ctx context.Context, run string) (limited *storage.LimitedError, err error) {
	err = s.view(ctx, func(r *session) error {
		row, err := findRun(ctx, r, run)
		if err != nil || row.Owner != "" || row.Bucket == 0 {
			return err
		}
		limits, err := readLimits(ctx, r)
		if err == nil {
			limited, err = full(ctx, r, limits, run, row.N, row.Bucket)
		}
		return err
	})
	return limited, err
}
