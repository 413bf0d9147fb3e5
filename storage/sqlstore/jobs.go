package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	insertJob = `INSERT INTO jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure, run_labels, trace)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	jobColumns = `n, id, run, flow, version, input, labels, priority, state, not_until, created,
  epoch, claim, owner, lease, attempts, failure, run_labels, ended, trace`
	selectJobs = `SELECT ` + jobColumns + ` FROM jobs`
	selectJob  = selectJobs + ` WHERE id = ?`
	renewJob   = `UPDATE jobs SET lease = ? WHERE id = ? AND epoch = ? AND claim = ? AND claim <> '' AND state = ` + jobClaimed
	finishJob  = `UPDATE jobs SET state = ?, not_until = ?, failure = ?, ended = ?, claim = '', owner = '', lease = NULL
WHERE id = ? AND epoch = ? AND claim = ? AND state = ` + jobClaimed
	finishRows = `UPDATE jobs SET state = v.state, not_until = v.not_until, failure = v.failure, ended = v.ended,
  claim = '', owner = '', lease = NULL`
	finishedRows = ` WHERE id = v.job AND jobs.epoch = v.claimed AND jobs.claim = v.holder AND CASE WHEN id = v.job THEN jobs.state = ` + jobClaimed + ` END`
	finishTypes  = `state smallint, not_until bigint, failure bytea, ended bigint, job text, claimed bigint, holder text`
	// finishedJob finds the job as finishJob, with the same arguments, leaves it.
	finishedJob = `SELECT 1 FROM jobs WHERE state = ?1 AND not_until IS NOT DISTINCT FROM ?2 AND failure IS NOT DISTINCT FROM ?3
  AND ended IS NOT DISTINCT FROM ?4 AND id = ?5 AND epoch = ?6 AND claim = '' AND ?7 <> ''`
	changeState = `UPDATE jobs SET state = ?, not_until = ?, failure = ?, ended = ?, attempts = 0, claim = '', owner = '', lease = NULL
WHERE id = ? AND state = ? AND claim = ''`
	// purgeJobs deletes those that ended before, of which there is no run.
	purgeJobs = `DELETE FROM jobs WHERE n IN (SELECT j.n FROM jobs j WHERE j.ended < ?1 AND (?2 = '' OR j.flow = ?2)
  AND j.flow NOT IN (SELECT value FROM json_each(?3)) AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.id = j.run AND o.job = j.id)
  ORDER BY j.ended, j.n LIMIT ?4 + 0)`
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
	Tags     []byte `db:"run_labels"`
	Trace    string `db:"trace"`
	Ended    moment `db:"ended"`
}

func (r *jobRow) job() (storage.Job, error) {
	failure, err := codec.DecodeFailure(r.Failure)
	if err != nil {
		return storage.Job{}, fmt.Errorf("%w (job %q)", err, r.ID)
	}
	job := storage.Job{
		ID: r.ID, Run: r.Run, Flow: r.Flow, Version: r.Version, Input: r.Input, Priority: r.Priority,
		State: states.Job(r.State), NotUntil: r.NotUntil.time(), Created: r.Created.time(), Ended: r.Ended.time(),
		Epoch: r.Epoch, ClaimID: r.Claim, Owner: r.Owner, Lease: r.Lease.time(), Attempts: r.Attempts, Failure: failure,
		Trace: r.Trace,
	}
	if err := errors.Join(decodeLabels(r.Labels, &job.Labels), decodeLabels(r.Tags, &job.RunLabels)); err != nil {
		return storage.Job{}, fmt.Errorf("%w: labels of job %q: %w", storage.ErrCorrupt, r.ID, err)
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

// changeJob runs an update of a claimed job.
func changeJob(ctx context.Context, w *session, id, query string, args ...any) error {
	done, err := w.exec(ctx, query, args...)
	if err != nil || done == 1 {
		return err
	}
	return jobLost(ctx, w, id)
}

// jobLost returns why a claim is not that of a job.
func jobLost(ctx context.Context, w *session, id string) error {
	if _, err := findJob(ctx, w, id); err != nil {
		return err
	}
	return fmt.Errorf("%w: job %q", storage.ErrFenced, id)
}

// RenewJob prolongs a claim.
func (s *Store) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		now, err := w.now(ctx)
		if err != nil {
			return err
		}
		return changeJob(ctx, w, id, renewJob, micros(now.Add(lease)), id, epoch, claim)
	}})
}

// endJob writes an end. A claim is its own guard; without one, what the job is
// now decides.
func endJob(ctx context.Context, w *session, run string, end *storage.JobEnd) error {
	if end.ClaimID != "" {
		if err := states.Check(states.JobClaimed, end.State); err != nil {
			return fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, end.Job, err)
		}
		return changeJob(ctx, w, end.Job, finishJob, finishArgs(end)...)
	}
	job, err := findJob(ctx, w, end.Job)
	if err != nil {
		return err
	}
	if ends, err := rules.Ends(end, &job, run); !ends {
		return err
	}
	return changeJob(ctx, w, end.Job, changeState, end.State, micros(end.NotUntil), codec.EncodeFailure(end.Failure), endedNow(end),
		end.Job, job.State)
}

// finishArgs are the arguments of finishJob.
func finishArgs(end *storage.JobEnd) []any {
	return []any{end.State, micros(end.NotUntil), codec.EncodeFailure(end.Failure), endedNow(end), end.Job, end.Epoch, end.ClaimID}
}

// endedNow returns when the job ended, as it is stored; nil when it has not.
func endedNow(end *storage.JobEnd) any {
	if !end.State.Ended() {
		return nil
	}
	return time.Now().UnixMicro()
}

// PurgeJobs deletes jobs that have ended.
func (s *Store) PurgeJobs(ctx context.Context, q storage.JobPurge) (int, error) {
	except := "[]"
	if len(q.Except) > 0 {
		text, err := json.Marshal(q.Except)
		if err != nil {
			return 0, err
		}
		except = string(text)
	}
	var purged int64
	err := s.update(ctx, &write{alone: s.dialect.locks, do: func(ctx context.Context, w *session) (err error) {
		purged, err = w.exec(ctx, purgeJobs, q.Before.UnixMicro(), q.Flow, except, limitOr(q.Limit))
		return err
	}})
	if err != nil {
		return 0, err
	}
	return int(purged), nil
}

// arrivalOf returns the kind of change that the end of a claim makes for waiting calls.
func arrivalOf(end *storage.JobEnd) wakeup.Change {
	if end.State.Ended() { // no claimant waits for a job that has ended
		return wakeup.Nobody
	}
	return wakeup.Posts
}

// EndJob ends a claim. When the answer of the database is lost, it looks whether the job
// was ended, and ends it if it was not.
func (s *Store) EndJob(ctx context.Context, end storage.JobEnd) error {
	if end.ClaimID == "" {
		return s.update(ctx, &write{
			do:       func(ctx context.Context, w *session) error { return endJob(ctx, w, "", &end) },
			arrivals: wakeup.Posts,
		})
	}
	if err := states.Check(states.JobClaimed, end.State); err != nil {
		return fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, end.Job, err)
	}
	args := finishArgs(&end)
	var unsure error // whether it was done before
	for try := 1; ; try++ {
		err := s.update(ctx, &write{
			do: func(ctx context.Context, w *session) error { return w.post(ctx, passed, finishJob, args...) },
			judge: func(ctx context.Context, w *session) error {
				if unsure == nil {
					return jobLost(ctx, w, end.Job)
				}
				var n int
				if err := w.get(ctx, &n, finishedJob, args...); err == nil || !errors.Is(err, storage.ErrNotFound) {
					return err
				}
				return jobLost(ctx, w, end.Job)
			},
			arrivals: arrivalOf(&end), again: true,
		})
		switch {
		case errors.Is(err, storage.ErrUnsure) && !errors.Is(err, ErrBroken) && try < conflictTries:
			unsure = err
		case err != nil && unsure != nil && !errors.Is(err, storage.ErrUnsure):
			return fmt.Errorf("%w, then: %w", unsure, err)
		default:
			return err
		}
	}
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
		if !slices.ContainsFunc(q.States, states.Job.Ended) {
			text += " AND state <> " + jobComplete // those that have not ended are in an index
		}
		for _, state := range q.States {
			args = append(args, state)
		}
	}
	text += " ORDER BY priority DESC, n LIMIT ?"
	args = append(args, limitOr(q.Limit))
	var out []storage.Job
	err := s.view(ctx, func(r *session) error {
		var rows []jobRow
		if err := r.once(ctx, &rows, text, args...); err != nil {
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
