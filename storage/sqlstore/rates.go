package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// anyFree selects whether there are jobs to claim whose flows' rates are not used up, whatever their labels.
// Therefore, a used-up rate does not cost a turn to write. For SQLite the argument is the current time.
var anyFree = statement{
	onSQLite: `WITH used AS (SELECT l.flow FROM limits l WHERE l.rate > 0 AND l.label = '' AND l.rate <= (
  SELECT coalesce(sum(r.jobs), 0) FROM rated r WHERE r.flow = l.flow AND r.label = '' AND r.at > $1 - l.per))
SELECT NOT EXISTS (SELECT 1 FROM used WHERE flow = '') AND (
  EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobUnclaimed + ` AND flow NOT IN (SELECT flow FROM used))
  OR EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobScheduled + ` AND (not_until IS NULL OR not_until <= $1)
  AND flow NOT IN (SELECT flow FROM used))
  OR EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobClaimed + ` AND lease < $1 AND flow NOT IN (SELECT flow
  FROM used)))`,
	onPostgres: `WITH used AS (SELECT l.flow FROM limits l WHERE l.rate > 0 AND l.label = '' AND l.rate <= (
  SELECT coalesce(sum(r.jobs), 0) FROM rated r WHERE r.flow = l.flow AND r.label = ''
  AND r.at > ` + serverNow + ` - l.per))
SELECT NOT EXISTS (SELECT 1 FROM used WHERE flow = '') AND (
  EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobUnclaimed + ` AND flow NOT IN (SELECT flow FROM used))
  OR EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobScheduled + ` AND (not_until IS NULL
  OR not_until <= ` + serverNow + `)
    AND flow NOT IN (SELECT flow FROM used))
  OR EXISTS (SELECT 1 FROM jobs WHERE state = ` + jobClaimed + ` AND lease < ` + serverNow + `
  AND flow NOT IN (SELECT flow FROM used)))`,
}

const (
	// lockRates keeps other claimants from claiming jobs that a rate may count until this transaction ends.
	lockRates   = `SELECT flow FROM limits WHERE rate > 0 ORDER BY flow, label FOR UPDATE`
	selectRated = `SELECT r.flow, r.label, r.value, CAST(sum(r.jobs) AS BIGINT) AS jobs
FROM limits l JOIN rated r ON r.flow = l.flow AND r.label = l.label WHERE l.rate > 0 AND r.at > $1 - l.per
GROUP BY r.flow, r.label, r.value`
	selectSpent = `SELECT at, jobs FROM rated WHERE flow = $1 AND label = $2 AND value = $3 AND at > $4 ORDER BY at`
	putRated    = `INSERT INTO rated (flow, label, value, at, jobs) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (flow, label, value, at) DO UPDATE SET jobs = rated.jobs + excluded.jobs`
	// deleteRated deletes claims that no rate counts any longer.
	deleteRated = `DELETE FROM rated WHERE NOT EXISTS (SELECT 1 FROM limits l
  WHERE l.flow = rated.flow AND l.label = rated.label AND l.rate > 0 AND rated.at > $1 - l.per)`
)

// meter returns how many jobs were claimed, as rates count them, and the time; nil if there are no rates. No other
// claimant claims such jobs until the transaction ends.
func meter(ctx context.Context, w *session) (*rules.Meter, time.Time, error) {
	limits, err := readLimits(ctx, w)
	if err == nil && rules.NewMeter(limits) != nil && w.dialect.locks {
		var flows []string
		if err = w.All(ctx, &flows, lockRates); err == nil { // an earlier transaction may have changed them
			w.limits = nil
			limits, err = readLimits(ctx, w)
		}
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	return readMeter(ctx, w, limits)
}

type ratedRow struct {
	unread

	Flow, Label, Value string
	At                 int64
	Jobs               int
}

// readMeter is meter without a lock.
func readMeter(ctx context.Context, r *session, limits []storage.Limit) (*rules.Meter, time.Time, error) {
	now, err := r.now(ctx)
	m := rules.NewMeter(limits)
	if m == nil || err != nil {
		return nil, now, err
	}
	_, err = readable(ctx, r, func(row *ratedRow) (bool, error) {
		m.Spend(row.Flow, row.Label, row.Value, row.Jobs)
		return true, nil
	}, selectRated, now.UnixMicro())
	return m, now, err
}

// Rated implements [backend.Limiter.Rated].
func (s *store) Rated(ctx context.Context, job *storage.Job) (rated *storage.LimitedError, err error) {
	err = s.view(ctx, func(r *session) error {
		limits, err := readLimits(ctx, r)
		if err != nil {
			return err
		}
		m, now, err := readMeter(ctx, r, limits)
		if err != nil {
			return err
		}
		rated, err = m.Next(job, func(by *rules.Metered) (spent []rules.Spent, err error) {
			return readable(ctx, r, func(row *ratedRow) (rules.Spent, error) {
				return rules.Spent{At: time.UnixMicro(row.At).UTC(), Jobs: row.Jobs}, nil
			}, selectSpent, by.Rate.Flow, by.Rate.Label, by.Value, now.Add(-by.Rate.Per).UnixMicro())
		})
		return err
	})
	return rated, err
}

// spend stores the claims that rates count, and deletes claims that no rate counts any longer.
func spend(ctx context.Context, w *session, now time.Time, by []rules.Metered) error {
	if len(by) == 0 {
		return nil
	}
	if _, err := w.Exec(ctx, deleteRated, now.UnixMicro()); err != nil {
		return err
	}
	jobs := map[rules.Metered]int{}
	for _, one := range by {
		jobs[one]++
	}
	for one, n := range jobs {
		if _, err := w.Exec(ctx, putRated, one.Rate.Flow, one.Rate.Label, one.Value, now.UnixMicro(), n); err != nil {
			return err
		}
	}
	return nil
}
