package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// insertJob adds a job unless its id is taken. In the caller's own transaction on a server, the statement names the
// table with its schema. jobArgs returns its arguments.
var insertJob = statement{onSQLite: `INSERT INTO ` + intoJobs[onSQLite], onPostgres: `INSERT INTO ` +
	intoJobs[onPostgres]}

var intoJobs = statement{
	onSQLite: `jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure, run_labels,
		trace)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
	onPostgres: `jobs (id, run, flow, version, input, labels, priority, state, not_until, created, failure, run_labels,
		trace)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING`,
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
	}, nil
}

func jobExists(made int64, id string) error {
	if made == 0 {
		return fmt.Errorf("%w: job %q", storage.ErrExists, id)
	}
	return nil
}

// PostJob implements [storage.Jobs.PostJob].
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
			return w.Post(ctx, func(made int64) error { return jobExists(made, job.ID) }, insertJob[w.dialect.db], args...)
		},
		arrivals: wakeup.Posts,
	})
}

// PostJobTx adds a job in the caller's own transaction, on a connection to the database of this store. The job
// exists if and when that transaction commits. The transaction of [storage.Transactor] also works. On SQLite, open
// the caller's connection with a busy timeout; otherwise it does not wait for other writers. If the id is taken,
// PostJobTx returns ErrExists, and the transaction can continue.
func (s *Store) PostJobTx(ctx context.Context, tx *sql.Tx, job storage.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	job = rules.Posted(&job, time.Now())
	args, err := jobArgs(&job)
	if err != nil {
		return err
	}
	query := insertJob[onSQLite]
	if s.server != nil {
		query = `INSERT INTO ` + pgx.Identifier{s.server.Schema}.Sanitize() + `.` + intoJobs[onPostgres]
		// The server sends the notification when the transaction commits.
		if _, err := tx.ExecContext(ctx, `SELECT pg_notify($1, $2)`, s.server.Channel(), ofJobs); err != nil {
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
