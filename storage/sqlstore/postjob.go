package sqlstore

import (
	"cmp"
	"context"
	"fmt"

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

// jobsArgs checks jobs, and returns the arguments of insertJob for each.
func (s *Store) jobsArgs(list []storage.Job) ([][]any, error) {
	rows := make([][]any, len(list))
	for i := range list {
		if err := list[i].Check(); err != nil {
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

func jobExists(id string) error { return fmt.Errorf("%w: job %q", storage.ErrExists, id) }

// PostJob implements [storage.Jobs.PostJob].
func (s *Store) PostJob(ctx context.Context, list ...storage.Job) error {
	rows, err := s.jobsArgs(list)
	if err != nil {
		return err
	}
	var taken error
	posted := false
	err = s.change(ctx, &write{
		idle: func() bool { return !posted },
		do: func(ctx context.Context, w *session) error {
			taken, posted = nil, false
			for i := range rows {
				if err := w.Post(ctx, func(made int64) error {
					if posted = posted || made > 0; made == 0 {
						taken = jobExists(list[i].ID)
					}
					return nil
				}, insertJob[w.dialect.db], rows[i]...); err != nil {
					return err
				}
			}
			return nil
		},
		arrivals: wakeup.Posts,
	})
	return cmp.Or(err, taken)
}

// PostJobTx adds jobs in the caller's own transaction, on a connection to the database of this store. The jobs
// exist if and when that transaction commits. The transaction of [storage.Transactor] also works. On SQLite, open
// the caller's connection with a busy timeout; otherwise it does not wait for other writers. If ids are taken,
// PostJobTx adds the other jobs and returns ErrExists, and the transaction can continue.
func (s *Store) PostJobTx(ctx context.Context, tx storage.UserTx, list ...storage.Job) error {
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
		default:
		}
	}
	return taken
}
