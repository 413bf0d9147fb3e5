package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	selectLimits  = `SELECT flow, label, runs, rate, per FROM limits ORDER BY flow, label`
	lockLimits    = selectLimits + ` FOR UPDATE`
	selectLimited = `SELECT runs FROM limits WHERE flow = $1 AND label = $2`
	putLimit      = `INSERT INTO limits (flow, label, runs, rate, per) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (flow, label) DO UPDATE SET runs = excluded.runs, rate = excluded.rate, per = excluded.per`
	deleteLimit = `DELETE FROM limits WHERE flow = $1 AND label = $2`
	countLimits = `SELECT count(*) FROM limits WHERE flow <> $1 OR label <> $2`

	// shareLimits keeps the limits of a PostgreSQL database unchanged until the transaction ends. alterLimits waits
	// for all transactions that ran shareLimits, and blocks new ones. Both lock the table and need rights on it. An
	// advisory lock would let every role that can connect block Ebb.
	shareLimits = `LOCK TABLE limits IN ROW EXCLUSIVE MODE`
	alterLimits = `LOCK TABLE limits IN SHARE ROW EXCLUSIVE MODE`
)

// readLimits returns all limits. It reads them once per transaction.
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
	return readable(ctx, s, (*limitRow).limit, query)
}

type limitRow struct {
	unread

	Flow, Label string
	Runs, Rate  int
	Per         int64 // in microseconds
}

func (r *limitRow) limit() (storage.Limit, error) {
	return storage.Limit{
		Flow: r.Flow, Label: r.Label, Runs: r.Runs, Rate: r.Rate, Per: time.Duration(r.Per) * time.Microsecond,
	}, nil
}

// keptLimits returns all limits and keeps them unchanged until the transaction ends. A process that sets a limit
// afterwards therefore sees the run that this transaction creates.
func keptLimits(ctx context.Context, w *session) ([]storage.Limit, error) {
	if w.limits == nil && w.dialect.locks {
		if err := w.Post(ctx, nil, shareLimits); err != nil {
			return nil, err
		}
		w.Changed-- // LOCK TABLE changes no row
	}
	return readLimits(ctx, w)
}

// heldLimits returns all limits. On a server no other transaction admits a run until this transaction ends.
func heldLimits(ctx context.Context, w *session) ([]storage.Limit, error) {
	if !w.dialect.locks {
		return readLimits(ctx, w)
	}
	return limitsBy(ctx, w, lockLimits)
}

// admit returns a *storage.LimitedError if a limit does not allow another run of the bucket. The caller has not
// written yet.
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

// noPlace returns the limit that does not allow a new run to be driven; nil if every limit allows it.
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
	err = count(ctx, w, t, selectDriven, 0)
	return t.Full(run.ID, &bucket), err
}

// admit checks the limits before a claim begins.
func (c *commit) admit(ctx context.Context, w *session) error {
	if c.cp.Head.Release {
		return nil
	}
	return admit(ctx, w, c.claim.Run, c.n, c.bucket)
}

// SetLimit implements [backend.Limiter.SetLimit]. If the set of limits by runs changes, it puts all runs that have
// not ended into new buckets.
func (s *store) SetLimit(ctx context.Context, limit storage.Limit) error {
	if err := backend.CheckLimit(&limit); err != nil {
		return err
	}
	return s.change(ctx, &write{
		alone: true,
		do: func(ctx context.Context, w *session) error {
			if w.dialect.locks {
				if err := w.Post(ctx, nil, alterLimits); err != nil {
					return err
				}
			}
			query, args := putLimit, []any{limit.Flow, limit.Label, limit.Runs, limit.Rate, limit.Per.Microseconds()}
			if limit.None() {
				query, args = deleteLimit, args[:2]
			} else {
				var others int
				if err := w.Get(ctx, &others, countLimits, limit.Flow, limit.Label); err != nil {
					return err
				}
				if err := rules.CheckLimits(others + 1); err != nil {
					return err
				}
			}
			was := 0
			if err := w.Get(ctx, &was, selectLimited, limit.Flow, limit.Label); err != nil &&
				!errors.Is(err, storage.ErrNotFound) {
				return err
			}
			if _, err := w.Exec(ctx, query, args...); err != nil {
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

// Limits implements [backend.Limiter.Limits].
func (s *store) Limits(ctx context.Context) (limits []storage.Limit, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		limits, err = readLimits(ctx, r)
		return err
	})
	return limits, err
}

// Limited implements [backend.Limiter.Limited].
func (s *store) Limited(ctx context.Context, run string) (limited *storage.LimitedError, err error) {
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
