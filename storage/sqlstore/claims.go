package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

// Most claims are one statement, which finds jobs and claims them. If rates count jobs, or the
// claimant offers labels, this statement cannot decide whether a job may be claimed. Then the
// jobs are read first, page by page.

const (
	// Jobs whose time has come, and those whose lease has run out, are made
	// unclaimed by a process that looks for such. ?1 is the time.
	jobsDue       = `UPDATE jobs SET state = ` + jobUnclaimed + ` WHERE state = ` + jobScheduled + ` AND (not_until IS NULL OR not_until <= ?1)`
	jobsAbandoned = `UPDATE jobs SET state = ` + jobUnclaimed + `, claim = '', owner = '', lease = NULL WHERE state = ` + jobClaimed + ` AND lease < ?1`

	setClaimed = `UPDATE jobs SET state = ` + jobClaimed + `, epoch = epoch + 1, attempts = attempts + 1, `
	claimOrder = ` ORDER BY priority DESC, n LIMIT ?3 + 0`
	// firstPlain are the first jobs without labels; none when there are rates.
	firstPlain = `SELECT n FROM jobs WHERE state = ` + jobUnclaimed + ` AND labels IS NULL AND (?4 = '[]' OR flow IN (SELECT value FROM json_each(?4)))
  AND NOT EXISTS (SELECT 1 FROM limits WHERE rate > 0)` + claimOrder
	// selectClaimable selects those that may be claimed, behind a priority and
	// number, in the order of claiming; selectElse those of other flows than some.
	selectClaimable = claimableBehind + claimOrder
	selectElse      = claimableBehind + ` AND flow NOT IN (SELECT value FROM json_each(?4))` + claimOrder
	claimableBehind = selectJobs + ` WHERE state = ` + jobUnclaimed + ` AND (priority < ?1 OR priority = ?1 AND n > ?2)`

	claimJob   = setClaimed + `claim = ?, owner = ?, lease = ? WHERE n = ?`
	claimRows  = setClaimed + `claim = v.claim, owner = v.owner, lease = v.lease`
	claimTypes = `claim text, owner text, lease bigint, n bigint`

	// claimedSo are the jobs of one claim.
	claimedSo = selectJobs + ` WHERE owner = ? AND claim = ? AND state = ` + jobClaimed + ` AND lease > 0`
)

// claimPlainOf claims those that are found so. ?6 is the time.
func claimPlainOf(found string) string {
	return setClaimed + `claim = ?1, owner = ?2, lease = ?6 + ?5 WHERE n ` + found + ` RETURNING ` + jobColumns
}

// A claiming is a claim in the making. All jobs that it claims have its id.
type claiming struct {
	storage.JobClaim
	id, owner string
	jobs      []storage.Job
	misread   error // of jobs that are claimed
}

// ClaimJobs claims jobs.
func (s *Store) ClaimJobs(ctx context.Context, q storage.JobClaim) (_ []storage.Job, err error) {
	if s.readOnly {
		return nil, fmt.Errorf("%w (%s)", ErrReadOnly, s.place)
	}
	if err := s.evictDead(ctx); err != nil {
		return nil, err
	}
	if !s.jobsFound.Load() { // there may be none: an empty board costs no turn to write
		var free bool
		err = s.glance(ctx, func(r *session) error {
			query, args := r.dialect.atTime(anyFree, "?1")
			return r.get(ctx, &free, query, args...)
		})
		if err != nil || !free {
			return nil, err
		}
	}
	c := claiming{JobClaim: q, id: uuid.NewString(), owner: s.owner.ID}
	c.Limit = max(q.Limit, 1)
	if len(c.Labels) == 0 && !s.rated.Load() {
		err = s.claimBy(ctx, &c, claimPlain)
	}
	if len(c.jobs) == 0 && err == nil { // there may be rates
		err = s.claimBy(ctx, &c, s.claimLooking)
	}
	if err != nil {
		return nil, err
	}
	for i := range c.jobs {
		if j := &c.jobs[i]; j.Attempts == 1 && j.NotUntil.IsZero() && j.Created.UnixMicro() > s.notifier.Last.Load() {
			s.writer.counts.found.Add(1)
		}
	}
	s.jobsFound.Store(len(c.jobs) > 0)
	return c.jobs, nil
}

// claimBy claims in one of the ways. When the answer of the database is lost, it looks what
// was claimed, and if that is nothing claims again. What the server claims only after that
// look waits until the lease has run out.
func (s *Store) claimBy(ctx context.Context, c *claiming, way func(context.Context, *session, *claiming) error) error {
	for try := 1; ; try++ {
		err := s.update(ctx, &write{again: true, do: func(ctx context.Context, w *session) error {
			if err := unclaim(ctx, w); err != nil {
				return err
			}
			return way(ctx, w, c)
		}})
		if err == nil {
			return dberr.Failed(s.place, "read", c.misread)
		}
		if !errors.Is(err, storage.ErrUnsure) || errors.Is(err, ErrBroken) || try == conflictTries {
			return err
		}
		looked := s.glance(ctx, func(r *session) error {
			var rows []jobRow
			if err := r.all(ctx, &rows, claimedSo, c.owner, c.id); err != nil {
				return err
			}
			c.jobs, err = jobsOf(rows)
			return err
		})
		if looked != nil {
			return errors.Join(err, looked)
		}
		if len(c.jobs) > 0 {
			return nil
		}
	}
}

// claimLooking claims by what rates there are, and what jobs want.
func (s *Store) claimLooking(ctx context.Context, w *session, c *claiming) error {
	rates, now, err := meter(ctx, w)
	if err != nil {
		return err
	}
	s.rated.Store(rates != nil)
	if len(c.Labels) == 0 && rates == nil {
		return claimPlain(ctx, w, c)
	}
	return claimLookedAt(ctx, w, c, rates, now)
}

// unclaim frees the jobs whose claim has lapsed, and those whose time has come. It does so
// once in a transaction.
func unclaim(ctx context.Context, w *session) error {
	if w.freed { // by another claim that shares it
		return nil
	}
	w.freed = true
	before := w.changed
	for _, free := range [...]string{jobsDue, jobsAbandoned} {
		query, args := w.dialect.atTime(free, "?1")
		if err := w.post(ctx, nil, query, args...); err != nil {
			return err
		}
	}
	if w.dialect.posts {
		w.changed = before // mostly there are none
	}
	return nil
}

// claimPlain claims jobs without labels, if there are no rates.
func claimPlain(ctx context.Context, w *session, c *claiming) error {
	flows := "[]"
	if len(c.Flows) > 0 {
		text, err := json.Marshal(c.Flows)
		if err != nil {
			return err
		}
		flows = string(text)
	}
	query, args := w.dialect.atTime(w.dialect.plain, "?6", c.id, c.owner, c.Limit, flows, c.Lease.Microseconds())
	var rows []jobRow
	return w.postQuery(ctx, &rows, func(err error) error {
		w.count(int64(len(rows)), args)
		if err == nil {
			c.jobs, err = jobsOf(rows)
		}
		c.misread = err
		return err
	}, query, args...)
}

// jobsOf returns jobs in the order of claiming.
func jobsOf(rows []jobRow) ([]storage.Job, error) {
	slices.SortFunc(rows, func(a, b jobRow) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.N, b.N)) })
	jobs := make([]storage.Job, len(rows))
	for i := range rows {
		var err error
		if jobs[i], err = rows[i].job(); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// claimLookedAt claims the first jobs that a claim takes and rates admit.
func claimLookedAt(
	ctx context.Context, w *session, c *claiming, rates *rules.Meter, now time.Time,
) error {
	numbers, jobs, by, err := claimable(ctx, w, c, rates)
	if err != nil {
		return err
	}
	if err := spend(ctx, w, now, by); err != nil {
		return err
	}
	lease := time.UnixMicro(now.Add(c.Lease).UnixMicro()).UTC()
	for i := range jobs {
		j := &jobs[i]
		j.State, j.ClaimID, j.Owner, j.Lease = states.JobClaimed, c.id, c.owner, lease
		j.Epoch++
		j.Attempts++
		if err := w.post(ctx, nil, claimJob, c.id, c.owner, micros(lease), numbers[i]); err != nil {
			return err
		}
	}
	c.jobs, c.misread = jobs, nil
	return nil
}

// claimable returns the first jobs that a claim takes and rates admit, their
// numbers, and what counts them, looking through them by pages. Where others write
// too, those that they are about to claim are left out.
func claimable(
	ctx context.Context, w *session, q *claiming, rates *rules.Meter,
) (numbers []int64, jobs []storage.Job, by []rules.Metered, err error) {
	priority, n := int64(math.MaxInt64), int64(0)
	for page := q.Limit; ; page = min(2*page, 1000) {
		rows, err := claimablePage(ctx, w, rates, priority, n, page)
		if err != nil {
			return nil, nil, nil, err
		}
		for i := range rows {
			job, err := rows[i].job()
			if err != nil {
				return nil, nil, nil, err
			}
			if !rules.TakesJob(&q.JobClaim, &job) {
				continue
			}
			if counted, may := rates.Admit(&job); may {
				numbers, jobs, by = append(numbers, rows[i].N), append(jobs, job), append(by, counted...)
			}
			if len(jobs) == q.Limit {
				return numbers, jobs, by, nil
			}
		}
		if len(rows) < page {
			return numbers, jobs, by, nil
		}
		last := &rows[len(rows)-1]
		priority, n = int64(last.Priority), last.N
	}
}

// claimablePage returns up to a page of jobs that may be claimed, behind a priority
// and number, but for flows that rates let nothing in of.
func claimablePage(ctx context.Context, w *session, rates *rules.Meter, priority, n int64, page int) (rows []jobRow, err error) {
	query, args := selectClaimable, []any{priority, n, page}
	full, all := rates.Full()
	if all {
		return nil, nil
	}
	if len(full) > 0 {
		text, err := json.Marshal(full)
		if err != nil {
			return nil, err
		}
		query, args = selectElse, append(args, string(text))
	}
	err = w.all(ctx, &rows, query+w.dialect.skip, args...)
	return rows, err
}
