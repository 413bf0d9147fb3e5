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

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Most claims are one statement, which finds jobs and claims them. If rates count jobs, or the claimant offers
// labels, one statement cannot decide which jobs may be claimed. The store then reads the jobs page by page before
// it claims them.

const setClaimed = `UPDATE jobs SET state = ` + jobClaimed + `, epoch = epoch + 1, attempts = attempts + 1, `

// claimFirst claims the first jobs without labels. If there are rates, it claims none. Its arguments are the claim's
// id, the owner, the number of jobs, flows and languages as JSON, and the lease. On SQLite, the current time follows.
var claimFirst = statement{
	onSQLite: setClaimed + `claim = $1, owner = $2, lease = $7 + $6 WHERE n IN (
  SELECT n FROM jobs WHERE state = ` + jobUnclaimed + ` AND labels IS NULL AND ` + takesFlow[onSQLite] + `
  AND NOT EXISTS (SELECT 1 FROM limits WHERE rate > 0) ORDER BY priority DESC, n LIMIT $3 + 0) RETURNING ` + jobColumns,
	// The numbers are an array, because otherwise PostgreSQL may read all rows to find the numbers.
	onPostgres: setClaimed + `claim = $1, owner = $2, lease = ` + serverNow + ` + $6 WHERE n = ANY (ARRAY(
  SELECT n FROM jobs WHERE state = ` + jobUnclaimed + ` AND labels IS NULL AND ` + takesFlow[onPostgres] + `
  AND NOT EXISTS (SELECT 1 FROM limits WHERE rate > 0) ORDER BY priority DESC, n LIMIT $3 + 0
  FOR UPDATE SKIP LOCKED)) RETURNING ` + jobColumns,
}

// takesFlow is the condition that a claim takes jobs of a flow, where $4 are flows and $5 languages as JSON. It looks
// only for definitions of the job's flow. A database could compute EXISTS from all definitions.
var takesFlow = statement{
	onSQLite: `($4 = '[]' AND $5 = '[]' OR flow IN (SELECT value FROM json_each($4))
  OR $5 <> '[]' AND (SELECT 1 FROM definitions d WHERE d.name = jobs.flow
    AND substr(d.language, 1, instr(d.language || '/', '/') - 1) IN (SELECT value FROM json_each($5)) LIMIT 1)
  IS NOT NULL)`,
	onPostgres: `($4 = '[]' AND $5 = '[]' OR flow IN (SELECT value FROM json_array_elements_text(CAST($4 AS JSON)))
  OR $5 <> '[]' AND (SELECT 1 FROM definitions d WHERE d.name = jobs.flow
    AND split_part(d.language, '/', 1) IN (SELECT value FROM json_array_elements_text(CAST($5 AS JSON)))
    LIMIT 1) IS NOT NULL)`,
}

// selectClaimable selects jobs that may be claimed, in claiming order, after a given priority and number.
// selectClaimableElse leaves out the jobs of some flows. Both skip jobs that other transactions have locked.
var (
	selectClaimable = statement{
		onSQLite: claimableBehind + takesFlow[onSQLite] + ` ORDER BY priority DESC, n LIMIT $3 + 0`,
		onPostgres: claimableBehind + takesFlow[onPostgres] + ` ORDER BY priority DESC, n LIMIT $3 + 0
FOR UPDATE SKIP LOCKED`,
	}
	selectClaimableElse = statement{
		onSQLite: claimableBehind + takesFlow[onSQLite] +
			` AND flow NOT IN (SELECT value FROM json_each($6)) ORDER BY priority DESC, n LIMIT $3 + 0`,
		onPostgres: claimableBehind + takesFlow[onPostgres] + `
AND flow NOT IN (SELECT value FROM json_array_elements_text(CAST($6 AS JSON)))
ORDER BY priority DESC, n LIMIT $3 + 0 FOR UPDATE SKIP LOCKED`,
	}
)

const claimableBehind = selectJobs + ` WHERE state = ` + jobUnclaimed +
	` AND (priority < $1 OR priority = $1 AND n > $2) AND `

// claimJob claims one job.
var claimJob = statement{
	onSQLite: setClaimed + `claim = ?, owner = ?, lease = ? WHERE n = ?`,
	onPostgres: setClaimed + `claim = v.claim, owner = v.owner, lease = v.lease
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS v (claim, owner, lease, n) WHERE jobs.n = v.n`,
}

// selectClaimed selects the jobs that one call of ClaimJobs has claimed.
const selectClaimed = selectJobs + ` WHERE owner = $1 AND claim = $2 AND state = ` + jobClaimed + ` AND lease > 0`

// A claiming is one call of ClaimJobs. All jobs that it claims have its id as their claim.
type claiming struct {
	backend.JobClaim
	id, owner string
	jobs      []storage.Job
	damaged   []backend.JobEnd // of claimed jobs that cannot be decoded
}

// ClaimJobs implements [backend.Jobs.ClaimJobs].
func (s *store) ClaimJobs(ctx context.Context, q backend.JobClaim) (_ []storage.Job, err error) {
	if s.readOnly {
		return nil, fmt.Errorf("%w (%s)", ErrReadOnly, s.place)
	}
	if err := s.evictDead(ctx); err != nil {
		return nil, err
	}
	if !s.jobsFound.Load() { // look first with a read, so that an empty board does not wait for the turn to write
		var free bool
		err = s.glance(ctx, func(r *session) error {
			return r.Get(ctx, &free, anyFree[r.dialect.db], r.dialect.untilNow()...)
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
	if len(c.jobs)+len(c.damaged) == 0 && err == nil { // there may be rates
		err = s.claimBy(ctx, &c, s.claimLooking)
	}
	if err != nil {
		return nil, err
	}
	for i := range c.damaged {
		if err := s.EndJob(ctx, c.damaged[i]); err != nil && !errors.Is(err, storage.ErrFenced) {
			return nil, err
		}
	}
	if len(c.damaged) > 0 && len(c.jobs) == 0 {
		return s.ClaimJobs(ctx, q)
	}
	for i := range c.jobs {
		j := &c.jobs[i]
		posted := time.Now().Add(j.Created.Sub(s.Now())) // by the clock of the notifier
		if j.Attempts == 1 && j.NotUntil.IsZero() && posted.UnixMicro() > s.notifier.Last.Load() {
			s.writer.counts.found.Add(1)
		}
	}
	s.jobsFound.Store(len(c.jobs) > 0)
	return c.jobs, nil
}

// claimBy claims in the given way. If the answer to the COMMIT is lost, claimBy reads which jobs were claimed. If
// no job was claimed, it claims again. If the server commits the lost claim after that read, the claim lasts until
// its lease expires.
func (s *store) claimBy(ctx context.Context, c *claiming, way func(context.Context, *session, *claiming) error) error {
	for try := 1; ; try++ {
		err := s.update(ctx, &write{again: true, do: func(ctx context.Context, w *session) error {
			if err := unclaim(ctx, w); err != nil {
				return err
			}
			return way(ctx, w, c)
		}})
		if err == nil {
			return nil
		}
		if !errors.Is(err, storage.ErrUnsure) || errors.Is(err, ErrBroken) || try == conflictTries {
			return err
		}
		looked := s.glance(ctx, func(r *session) error {
			var rows []jobRow
			if err := r.All(ctx, &rows, selectClaimed, c.owner, c.id); err != nil {
				return err
			}
			c.keep(rows)
			return nil
		})
		if looked != nil {
			return errors.Join(err, looked)
		}
		if len(c.jobs)+len(c.damaged) > 0 {
			return nil
		}
	}
}

// claimLooking claims if there are rates, or if the claimant offers labels.
func (s *store) claimLooking(ctx context.Context, w *session, c *claiming) error {
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

// taken returns the flows and languages of the claim as JSON.
func (c *claiming) taken() (flows, languages string, err error) {
	for _, list := range [...]struct {
		names []string
		text  *string
	}{{c.Flows, &flows}, {c.Languages, &languages}} {
		text, err := json.Marshal(append([]string{}, list.names...)) // [] and not null, if there are none
		if err != nil {
			return "", "", err
		}
		*list.text = string(text)
	}
	return flows, languages, nil
}

// claimPlain claims jobs without labels, if there are no rates.
func claimPlain(ctx context.Context, w *session, c *claiming) error {
	flows, languages, err := c.taken()
	if err != nil {
		return err
	}
	args := w.dialect.untilNow(c.id, c.owner, c.Limit, flows, languages, c.Lease.Microseconds())
	var rows []jobRow
	keep := func(err error) error {
		w.Count(int64(len(rows)), args)
		if err == nil {
			c.keep(rows)
		}
		return err
	}
	if w.dialect.Posts {
		return w.PostQuery(ctx, &rows, keep, claimFirst[w.dialect.db], args...)
	}
	rows, err = returned[jobRow](ctx, w, claimFirst[w.dialect.db], args...)
	return keep(err)
}

// keep keeps claimed jobs in the order of claiming. Those that cannot be decoded will be parked, so that they do not
// keep others from being claimed.
func (c *claiming) keep(rows []jobRow) {
	slices.SortFunc(rows,
		func(a, b jobRow) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.N, b.N)) })
	c.jobs, c.damaged = nil, nil
	for i := range rows {
		job, err := rows[i].job()
		if err == nil {
			c.jobs = append(c.jobs, job)
			continue
		}
		c.damaged = append(c.damaged, backend.JobEnd{
			Job: rows[i].ID, Epoch: rows[i].Epoch, ClaimID: rows[i].Claim, State: states.JobParked, Failure: unreadable(err),
		})
	}
}

// unreadable returns why a job is parked that cannot be decoded.
func unreadable(err error) *atom.Failure {
	return &atom.Failure{Code: atom.CodeNoStart, Message: err.Error()}
}

// claimLookedAt claims the first jobs that the claimant accepts and rates allow.
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
		if err := w.Post(ctx, nil, claimJob[w.dialect.db], c.id, c.owner, micros(lease), numbers[i]); err != nil {
			return err
		}
	}
	c.jobs = jobs
	return nil
}

// claimable reads jobs page by page. It returns the first jobs that the claimant accepts and rates allow, their
// numbers, and the rates that count them.
func claimable(
	ctx context.Context, w *session, q *claiming, rates *rules.Meter,
) (numbers []int64, jobs []storage.Job, by []rules.Metered, err error) {
	priority, n := int64(math.MaxInt64), int64(0)
	for page := q.Limit; ; page = min(2*page, 1000) {
		rows, err := claimablePage(ctx, w, q, rates, priority, n, page)
		if err != nil {
			return nil, nil, nil, err
		}
		for i := range rows {
			job, err := rows[i].job()
			if err != nil {
				if _, err = w.Exec(ctx, changeState, states.JobParked, nil, codec.EncodeFailure(unreadable(err)), nil,
					rows[i].ID, states.JobUnclaimed); err != nil {
					return nil, nil, nil, err
				}
				continue
			}
			if !rules.OffersFor(&q.JobClaim, &job) {
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

// claimablePage returns up to a page of jobs that may be claimed, after a given priority and number. It leaves out
// flows whose rates are used up.
func claimablePage(ctx context.Context, w *session, q *claiming, rates *rules.Meter, priority, n int64,
	page int,
) (rows []jobRow, err error) {
	flows, languages, err := q.taken()
	if err != nil {
		return nil, err
	}
	query, args := selectClaimable, []any{priority, n, page, flows, languages}
	full, all := rates.Full()
	if all {
		return nil, nil
	}
	if len(full) > 0 {
		text, err := json.Marshal(full)
		if err != nil {
			return nil, err
		}
		query, args = selectClaimableElse, append(args, string(text))
	}
	return returned[jobRow](ctx, w, query[w.dialect.db], args...)
}
