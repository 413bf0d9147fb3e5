package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const (
	insertJob = `INSERT INTO jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	selectJobs = `SELECT n, id, run, flow, version, input, labels, priority, state, not_until, created,
  epoch, claim, owner, lease, attempts, failure FROM jobs`
	selectJob = selectJobs + ` WHERE id = ?`
	// selectClaimable selects jobs that are unclaimed, scheduled and due, or
	// claimed under a lease that has run out, in the order of claiming.
	selectClaimable = selectJobs + `
WHERE state IN (0, 1, 3) AND CASE state WHEN 1 THEN lease < ?1 ELSE not_until IS NULL OR not_until <= ?1 END
ORDER BY priority DESC, n`
	claimJob = `UPDATE jobs SET state = 1, epoch = epoch + 1, attempts = attempts + 1, claim = ?, owner = ?, lease = ?
WHERE n = ?`
	renewJob  = `UPDATE jobs SET lease = ? WHERE id = ? AND epoch = ? AND claim = ? AND state = 1`
	finishJob = `UPDATE jobs SET state = ?, not_until = ?, failure = ?, claim = '', owner = '', lease = NULL
WHERE id = ? AND epoch = ? AND claim = ? AND state = 1`
)

type jobRow struct {
	N        int64  `db:"n"`
	ID       string `db:"id"`
	Run      string `db:"run"`
	Flow     string `db:"flow"`
	Version  int64  `db:"version"`
	Input    []byte `db:"input"`
	Labels   []byte `db:"labels"`
	Priority int    `db:"priority"`
	State    uint8  `db:"state"`
	NotUntil moment `db:"not_until"`
	Created  moment `db:"created"`
	Epoch    int64  `db:"epoch"`
	Claim    string `db:"claim"`
	Owner    string `db:"owner"`
	Lease    moment `db:"lease"`
	Attempts int    `db:"attempts"`
	Failure  []byte `db:"failure"`
}

func (r *jobRow) job() (storage.Job, error) {
	failure, err := storage.DecodeFailure(r.Failure)
	if err != nil {
		return storage.Job{}, fmt.Errorf("%w (job %q)", err, r.ID)
	}
	job := storage.Job{
		ID: r.ID, Run: r.Run, Flow: r.Flow, Version: r.Version, Input: r.Input, Priority: r.Priority,
		State: states.Job(r.State), NotUntil: r.NotUntil.time(), Created: r.Created.time(),
		Epoch: r.Epoch, ClaimID: r.Claim, Owner: r.Owner, Lease: r.Lease.time(), Attempts: r.Attempts, Failure: failure,
	}
	if r.Labels != nil {
		if err := json.Unmarshal(r.Labels, &job.Labels); err != nil {
			return storage.Job{}, fmt.Errorf("%w: labels of job %q: %w", storage.ErrCorrupt, r.ID, err)
		}
	}
	return job, nil
}

func findJob(ctx context.Context, s *session, id string) (storage.Job, error) {
	var row jobRow
	if err := s.get(ctx, &row, selectJob, id); err != nil {
		return storage.Job{}, notFound(err, "job", id)
	}
	return row.job()
}

// PostJob adds a job.
func (s *Store) PostJob(ctx context.Context, job storage.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	var labels []byte
	if len(job.Labels) > 0 {
		var err error
		if labels, err = json.Marshal(job.Labels); err != nil {
			return fmt.Errorf("sqlstore: labels of job %q: %w", job.ID, err)
		}
	}
	return s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			made, err := w.exec(ctx, insertJob, job.ID, job.Run, job.Flow, job.Version, []byte(job.Input), labels,
				job.Priority, job.State, micros(job.NotUntil), micros(orNow(job.Created)), storage.EncodeFailure(job.Failure))
			if err == nil && made == 0 {
				return fmt.Errorf("%w: job %q", storage.ErrExists, job.ID)
			}
			return err
		},
		then: s.bell.rang,
	})
}

// ClaimJobs claims jobs.
func (s *Store) ClaimJobs(ctx context.Context, q storage.JobClaim) (claimed []storage.Job, err error) {
	if s.readOnly {
		return nil, fmt.Errorf("%w (%s)", ErrReadOnly, s.file)
	}
	if err := s.buryDead(ctx); err != nil {
		return nil, err
	}
	err = s.update(ctx, &write{do: func(ctx context.Context, w *session) (err error) {
		claimed, err = s.claimJobs(ctx, w, q, time.Now())
		return err
	}})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

func (s *Store) claimJobs(ctx context.Context, w *session, q storage.JobClaim, now time.Time) ([]storage.Job, error) {
	var numbers []int64
	var jobs []storage.Job
	err := w.each(ctx, selectClaimable, []any{micros(now)}, func(rows *sqlx.Rows) (bool, error) {
		var row jobRow
		if err := rows.StructScan(&row); err != nil {
			return false, err
		}
		job, err := row.job()
		if err != nil {
			return false, err
		}
		if q.Takes(&job) {
			numbers, jobs = append(numbers, row.N), append(jobs, job)
		}
		return len(jobs) < max(q.Limit, 1), nil
	})
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		j := &jobs[i]
		j.State, j.ClaimID, j.Owner = states.JobClaimed, uuid.NewString(), s.owner.ID
		j.Epoch++
		j.Attempts++
		j.Lease = time.UnixMicro(now.Add(q.Lease).UnixMicro()).UTC()
		if _, err := w.exec(ctx, claimJob, j.ClaimID, j.Owner, micros(j.Lease), numbers[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// changeJob runs an update of a claimed job.
func changeJob(ctx context.Context, w *session, id, query string, args ...any) error {
	done, err := w.exec(ctx, query, args...)
	if err != nil || done == 1 {
		return err
	}
	if _, err := findJob(ctx, w, id); err != nil {
		return err
	}
	return fmt.Errorf("%w: job %q", storage.ErrFenced, id)
}

// RenewJob prolongs a claim.
func (s *Store) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		return changeJob(ctx, w, id, renewJob, micros(time.Now().Add(lease)), id, epoch, claim)
	}})
}

// endJob ends a claim; nil is none.
func endJob(ctx context.Context, w *session, end *storage.JobEnd) error {
	if end == nil {
		return nil
	}
	return changeJob(ctx, w, end.Job, finishJob, end.State, micros(end.NotUntil), storage.EncodeFailure(end.Failure),
		end.Job, end.Epoch, end.ClaimID)
}

// EndJob ends a claim.
func (s *Store) EndJob(ctx context.Context, end storage.JobEnd) error {
	return s.update(ctx, &write{
		do:   func(ctx context.Context, w *session) error { return endJob(ctx, w, &end) },
		then: s.bell.rang,
	})
}

// Job returns one job.
func (s *Store) Job(ctx context.Context, id string) (job storage.Job, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		job, err = findJob(ctx, r, id)
		return err
	})
	return job, err
}

// JobList lists jobs.
func (s *Store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	text, args := selectJobs, []any{}
	if len(q.States) > 0 {
		text += " WHERE state IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(q.States)), ", ") + ")"
		for _, state := range q.States {
			args = append(args, state)
		}
	}
	text += " ORDER BY priority DESC, n LIMIT ?"
	args = append(args, limitOr(q.Limit))
	var out []storage.Job
	err := s.view(ctx, func(r *session) error {
		var rows []jobRow
		if err := r.conn.SelectContext(ctx, &rows, text, args...); err != nil {
			return err
		}
		var errs []error
		for i := range rows {
			job, err := rows[i].job()
			out, errs = append(out, job), append(errs, err)
		}
		return errors.Join(errs...)
	})
	return out, err
}
