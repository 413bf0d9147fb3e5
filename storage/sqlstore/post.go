package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// jobArgs are the arguments of insertJob.
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
	}, nil
}

func jobExists(made int64, id string) error {
	if made == 0 {
		return fmt.Errorf("%w: job %q", storage.ErrExists, id)
	}
	return nil
}

// PostJob adds a job.
func (s *Store) PostJob(ctx context.Context, job storage.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	job = rules.Posted(&job, time.Now())
	args, err := jobArgs(&job)
	if err != nil {
		return err
	}
	return s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			return w.post(ctx, func(made int64) error { return jobExists(made, job.ID) }, insertJob, args...)
		},
		arrivals: wakeup.Posts,
	})
}

// PostJobTx adds a job in a transaction of the caller's own, on a connection to
// the database of this store: the job is there if and when that commits, and the
// transaction of [storage.Transactor] is one. On SQLite such a connection of the
// caller's waits for other writers only if it was opened with a busy timeout. It
// returns ErrExists when the id is taken, and then the transaction may go on.
func (s *Store) PostJobTx(ctx context.Context, tx *sql.Tx, job storage.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	job = rules.Posted(&job, time.Now())
	args, err := jobArgs(&job)
	if err != nil {
		return err
	}
	query := insertJob
	if s.server != nil {
		query = s.server.users(insertJob)
		if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, s.server.channel(), ofJobs); err != nil { // once it is committed
			return fmt.Errorf("sqlstore: post job %q: %w", job.ID, err)
		}
	}
	done, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("sqlstore: post job %q: %w", job.ID, err)
	}
	made, err := done.RowsAffected()
	if err != nil {
		return err
	}
	return jobExists(made, job.ID)
}
