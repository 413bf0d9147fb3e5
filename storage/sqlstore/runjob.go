package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// These statements change the job that asked for a run. Shared transactions on a server only queue them and assume
// the usual case: that the job waits for the run. If one of them changes no row, that write runs again alone and
// reads the state of its job.

// bindToRun binds a job to the run that it asked for.
var bindToRun = statement{
	onSQLite: `UPDATE jobs SET state = ` + jobClaimed + `, claim = '', owner = '', lease = NULL, attempts = 0
WHERE id = ? AND run = ?
AND (state = ` + jobUnclaimed + ` OR state = ` + jobClaimed + ` OR state = ` + jobScheduled + `)`,
	onPostgres: `UPDATE jobs SET state = ` + jobClaimed + `, claim = '', owner = '', lease = NULL, attempts = 0
FROM unnest($1::text[], $2::text[]) AS v (job, wanted)
WHERE id = v.job AND jobs.run = v.wanted AND CASE WHEN id = v.job THEN state IN (` + jobUnclaimed + `,
` + jobClaimed + `, ` + jobScheduled + `) END`,
}

// endWithRun ends the job that is bound to the run.
var endWithRun = statement{
	onSQLite: `UPDATE jobs SET state = ?, not_until = ?, failure = ?, ended = ?, attempts = 0, claim = '', owner = '',
		lease = NULL
WHERE id = ? AND run = ? AND state = ` + jobClaimed + ` AND claim = ''`,
	onPostgres: `UPDATE jobs SET state = v.state, not_until = v.not_until, failure = v.failure, ended = v.ended,
		attempts = 0,
  claim = '', owner = '', lease = NULL
FROM unnest($1::smallint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::text[], $6::text[])
AS v (state, not_until, failure, ended, job, wanted)
WHERE id = v.job AND jobs.run = v.wanted AND CASE WHEN id = v.job THEN jobs.state = ` + jobClaimed + ` END
AND CASE WHEN id = v.job THEN claim = '' END`,
}

// bindJob binds the job that asked for a new run to that run.
func bindJob(ctx context.Context, w *session, run *storage.Run) error {
	if run.Job == "" {
		return nil
	}
	if w.dialect.Posts && w.Many {
		return w.Post(ctx, passed, bindToRun[w.dialect.db], run.Job, run.ID)
	}
	done, err := w.Exec(ctx, bindToRun[w.dialect.db], run.Job, run.ID)
	if err != nil || done == 1 {
		return err
	}
	job, err := findJob(ctx, w, run.Job)
	if err != nil {
		return err
	}
	return rules.Wanted(&job, run.ID)
}

// endJobOf ends the job of a run within the checkpoint; end may be nil.
func endJobOf(ctx context.Context, w *session, run string, end *backend.JobEnd) error {
	switch {
	case end == nil:
		return nil
	case w.dialect.Posts && w.Many && end.ClaimID == "":
		return w.Post(ctx, passed, endWithRun[w.dialect.db], end.State, micros(end.NotUntil),
			codec.EncodeFailure(end.Failure), w.dialect.endedNow(end), end.Job, run)
	default:
		return endJob(ctx, w, run, end)
	}
}
