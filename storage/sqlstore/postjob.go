package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// insertJob adds a job unless its id is taken, or an open job has its Unique. In the caller's own transaction on a
// server, the statement names the table with its schema. jobArgs returns its arguments.
var insertJob = statement{onSQLite: `INSERT INTO ` + intoJobs[onSQLite], onPostgres: `INSERT INTO ` +
	intoJobs[onPostgres]}

var intoJobs = statement{
	onSQLite: `jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure, run_labels,
		trace, sole)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
	onPostgres: `jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure, run_labels,
		trace, sole)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
}

// selectSole selects the open job with a Unique. An index has it.
const selectSole = `SELECT id, run FROM jobs WHERE sole = $1 AND sole <> '' AND state <> 2`

// takenBy finds the job because of which another was not added: by its id, and then it returns an error if the two
// differ, or else by its Unique.
func takenBy(ctx context.Context, r *session, job *storage.Job) (storage.Job, error) {
	have, err := findJob(ctx, r, job.ID)
	if !errors.Is(err, storage.ErrNotFound) {
		return have, cmp.Or(err, rules.SameJob(&have, job))
	}
	return have, r.Get(ctx, &have, selectSole, job.Unique)
}

// jobArgs returns the arguments of insertJob.
func jobArgs(job *storage.Job) ([]any, error) {
	labels, err := encodeLabels(job.Labels)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: labels of job %q: %w", job.ID, err)
	}
	tags, err := encodeLabels(job.RunLabels)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: labels of job %q: %w", job.ID, err)
	}
	return []any{
		job.ID, job.Run, job.Flow, job.Version, []byte(job.Input), labels,
		job.Priority, job.State, micros(job.NotUntil), micros(job.Created), codec.EncodeFailure(job.Failure), tags, job.Trace,
		job.Unique,
	}, nil
}

// jobsArgs checks jobs, and returns the arguments of insertJob for each.
func (s *store) jobsArgs(list []storage.Job) ([][]any, error) {
	rows := make([][]any, len(list))
	for i := range list {
		if err := backend.CheckJob(&list[i]); err != nil {
			return nil, err
		}
		job := rules.Posted(&list[i], s.Now())
		var err error
		if rows[i], err = jobArgs(&job); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// findTaken is takenBy for the last job in a list, outside of the caller's transaction. It sets its id to that of the
// job with its Unique. If that transaction has added the job, and it is not in the list, the id becomes "".
func (s *store) findTaken(ctx context.Context, list []storage.Job) error {
	last := &list[len(list)-1]
	for i := range list[:len(list)-1] {
		switch one := &list[i]; {
		case one.ID == last.ID:
			return rules.SameJob(one, last)
		case last.Unique != "" && one.Unique == last.Unique:
			last.ID, last.Run = one.ID, one.Run
			return nil
		}
	}
	return s.view(ctx, func(r *session) error {
		have, err := takenBy(ctx, r, last)
		if err == nil || errors.Is(err, storage.ErrNotFound) && last.Unique != "" {
			last.ID, last.Run = have.ID, have.Run
		}
		return found(err)
	})
}

// found returns an error unless it is that a record does not exist.
func found(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// errTaken is the error of a write that learns at its end that the id of a job is taken.
var errTaken = errors.New("sqlstore: the id of a job is taken")

// PostJob implements [backend.Jobs.PostJob].
func (s *store) PostJob(ctx context.Context, list ...storage.Job) error {
	rows, err := s.jobsArgs(list)
	if err != nil {
		return err
	}
	err = s.postJobs(ctx, list, rows, !s.writer.dialect.Posts)
	if errors.Is(err, errTaken) {
		err = s.postJobs(ctx, list, rows, true)
	}
	return err
}

// postJobs posts jobs. Unless it compares those that are not added with those that are there, which costs a round trip,
// it returns errTaken if there are any.
func (s *store) postJobs(ctx context.Context, list []storage.Job, rows [][]any, compares bool) error {
	var taken []int // indexes of jobs that were not added
	there := make(map[int]storage.Job)
	err := s.change(ctx, &write{
		idle: func() bool { return len(taken) == len(list) },
		do: func(ctx context.Context, w *session) error {
			taken = taken[:0]
			for i := range rows {
				if err := w.Post(ctx, func(made int64) error {
					if made == 0 {
						taken = append(taken, i)
					}
					if made == 0 && !compares {
						return errTaken
					}
					return nil
				}, insertJob[w.dialect.db], rows[i]...); err != nil {
					return err
				}
			}
			if !compares {
				return nil
			}
			err := w.Flush(ctx)
			for _, i := range taken {
				if err == nil {
					there[i], err = takenBy(ctx, w, &list[i])
					err = found(err)
				}
			}
			return err
		},
		arrivals: wakeup.Posts,
	})
	if err != nil || len(taken) == 0 {
		return err
	}
	err = jobExists(list[taken[0]].ID)
	for _, i := range taken {
		if have := there[i]; have.ID != "" {
			list[i].ID, list[i].Run = have.ID, have.Run
		}
	}
	return err
}

func jobExists(id string) error { return fmt.Errorf("%w: job %q", storage.ErrExists, id) }

// PostJobTx: see [Store.PostJobTx].
func (s *store) PostJobTx(ctx context.Context, tx storage.UserTx, list ...storage.Job) error {
	rows, err := s.jobsArgs(list)
	if err != nil {
		return err
	}
	query := insertJob[onSQLite]
	if s.server != nil {
		query = `INSERT INTO ` + pgx.Identifier{s.server.Schema}.Sanitize() + `.` + intoJobs[onPostgres]
		// The server sends the notification when the transaction commits.
		if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, s.server.Channel(), ofJobs); err != nil {
			return fmt.Errorf("sqlstore: post jobs: %w", err)
		}
	}
	var taken error
	for i := range rows {
		done, err := tx.ExecContext(ctx, query, rows[i]...)
		if err != nil {
			return fmt.Errorf("sqlstore: post job %q: %w", list[i].ID, err)
		}
		switch made, err := done.RowsAffected(); {
		case err != nil:
			return err
		case made == 0:
			taken = jobExists(list[i].ID)
			if err := s.findTaken(ctx, list[:i+1]); err != nil {
				return err
			}
		default:
		}
	}
	return taken
}
