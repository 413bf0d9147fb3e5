package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// finishJob ends the claim of a job. finishArgs returns its arguments.
var finishJob = statement{
	onSQLite: `UPDATE jobs SET state = ?, not_until = ?, failure = ?, ended = ?, claim = '', owner = '', lease = NULL
WHERE id = ? AND epoch = ? AND claim = ? AND state = ` + jobClaimed,
	onPostgres: `UPDATE jobs SET state = v.state, not_until = v.not_until, failure = v.failure, ended = v.ended,
  claim = '', owner = '', lease = NULL
FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
AS v (state, not_until, failure, ended, job, claimed, holder)
WHERE id = v.job AND jobs.epoch = v.claimed AND jobs.claim = v.holder
AND CASE WHEN id = v.job THEN jobs.state = ` + jobClaimed + ` END`,
}

const (
	// finishedJob selects the job if finishJob with the same arguments has already changed it.
	finishedJob = `SELECT 1 FROM jobs WHERE state = $1 AND not_until IS NOT DISTINCT FROM $2
		AND failure IS NOT DISTINCT FROM $3
  AND ended IS NOT DISTINCT FROM $4 AND id = $5 AND epoch = $6 AND claim = '' AND $7 <> ''`
	changeState = `UPDATE jobs SET state = $1, not_until = $2, failure = $3, ended = $4, attempts = 0, claim = '',
		owner = '', lease = NULL
WHERE id = $5 AND state = $6 AND claim = ''`
)

// changeJob runs an update of a claimed job.
func changeJob(ctx context.Context, w *session, id, query string, args ...any) error {
	done, err := w.Exec(ctx, query, args...)
	if err != nil || done == 1 {
		return err
	}
	return jobLost(ctx, w, id)
}

// jobLost returns why a claim is no longer the job's.
func jobLost(ctx context.Context, w *session, id string) error {
	if _, err := findJob(ctx, w, id); err != nil {
		return err
	}
	return fmt.Errorf("%w: job %q", storage.ErrFenced, id)
}

// endJob ends the claim of a job. The job's epoch guards the update. Without a claim, the job's state decides
// whether the job may change.
func endJob(ctx context.Context, w *session, run string, end *backend.JobEnd) error {
	if end.ClaimID != "" {
		if err := states.Check(states.JobClaimed, end.State); err != nil {
			return fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, end.Job, err)
		}
		return changeJob(ctx, w, end.Job, finishJob[w.dialect.db], w.dialect.finishArgs(end)...)
	}
	job, err := findJob(ctx, w, end.Job)
	if err != nil {
		return err
	}
	if ends, err := rules.Ends(end, &job, run); !ends {
		return err
	}
	return changeJob(ctx, w, end.Job, changeState, end.State, micros(end.NotUntil), codec.EncodeFailure(end.Failure),
		w.dialect.endedNow(end), end.Job, job.State)
}

// finishArgs returns the arguments of finishJob.
func (d *dialect) finishArgs(end *backend.JobEnd) []any {
	return []any{
		end.State, micros(end.NotUntil), codec.EncodeFailure(end.Failure), d.endedNow(end), end.Job, end.Epoch,
		end.ClaimID,
	}
}

// endedNow returns the stored form of the time at which the job ended; nil if it has not ended.
func (d *dialect) endedNow(end *backend.JobEnd) any {
	if !end.State.Ended() {
		return nil
	}
	return d.Now().UnixMicro()
}

// arrivalOf returns which waiting callers the end of a claim concerns.
func arrivalOf(end *backend.JobEnd) wakeup.Change {
	if end.State.Ended() { // no claimant waits for a job that has ended
		return wakeup.Nothing
	}
	return wakeup.Posts
}

// EndJob implements [backend.Jobs.EndJob]. If the database's answer is lost, EndJob reads whether the job was
// changed, and repeats the change if not.
func (s *store) EndJob(ctx context.Context, end backend.JobEnd) error {
	if end.ClaimID == "" {
		return s.change(ctx, &write{
			do:       func(ctx context.Context, w *session) error { return endJob(ctx, w, "", &end) },
			arrivals: wakeup.Posts,
		})
	}
	if err := states.Check(states.JobClaimed, end.State); err != nil {
		return fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, end.Job, err)
	}
	args := s.dialect.finishArgs(&end)
	var unsure error // set if an earlier attempt may have changed the job
	for try := 1; ; try++ {
		err := s.change(ctx, &write{
			do: func(ctx context.Context, w *session) error {
				return w.Post(ctx, passed, finishJob[w.dialect.db], args...)
			},
			judge: func(ctx context.Context, w *session) error {
				if unsure == nil {
					return jobLost(ctx, w, end.Job)
				}
				var n int
				if err := w.Get(ctx, &n, finishedJob, args...); err == nil || !errors.Is(err, storage.ErrNotFound) {
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

// purgeJobs deletes the jobs that ended before a given time and whose run does not exist.
var purgeJobs = statement{
	onSQLite: `DELETE FROM jobs WHERE n IN (SELECT j.n FROM jobs j WHERE j.ended < $1 AND ($2 = '' OR j.flow = $2)
  AND j.flow NOT IN (SELECT value FROM json_each($3)) AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.id = j.run
  AND o.job = j.id)
  ORDER BY j.ended, j.n LIMIT $4 + 0)`,
	onPostgres: `DELETE FROM jobs WHERE n IN (SELECT j.n FROM jobs j WHERE j.ended < $1 AND ($2 = '' OR j.flow = $2)
  AND j.flow NOT IN (SELECT value FROM json_array_elements_text(CAST($3 AS JSON)))
  AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.id = j.run AND o.job = j.id)
  ORDER BY j.ended, j.n LIMIT $4 + 0)`,
}

// PurgeJobs implements [backend.Jobs.PurgeJobs].
func (s *store) PurgeJobs(ctx context.Context, q backend.JobPurge) (int, error) {
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
		purged, err = w.Exec(ctx, purgeJobs[w.dialect.db], q.Before.UnixMicro(), q.Flow, except, limitOr(q.Limit))
		return err
	}})
	if err != nil {
		return 0, err
	}
	return int(purged), nil
}
