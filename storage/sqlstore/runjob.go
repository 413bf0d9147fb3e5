package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// What a run does to the job that asked for it. Where many writes share a transaction
// on a server, the rule is posted: that the job waits for the run. Should one of them be
// an exception, that one is written once more by itself, and asks what its job is.

const (
	bindToRun = `UPDATE jobs SET state = ` + jobClaimed + `, claim = '', owner = '', lease = NULL, attempts = 0
WHERE id = ? AND run = ? AND state IN (` + jobUnclaimed + `, ` + jobClaimed + `, ` + jobScheduled + `)`
	bindRows  = `UPDATE jobs SET state = ` + jobClaimed + `, claim = '', owner = '', lease = NULL, attempts = 0`
	boundRows = ` WHERE id = v.job AND jobs.run = v.wanted
  AND CASE WHEN id = v.job THEN state IN (` + jobUnclaimed + `, ` + jobClaimed + `, ` + jobScheduled + `) END`
	bindTypes = `job text, wanted text`

	endWithRun = `UPDATE jobs SET state = ?, not_until = ?, failure = ?, ended = ?, attempts = 0, claim = '', owner = '', lease = NULL
WHERE id = ? AND run = ? AND state = ` + jobClaimed + ` AND claim = ''`
	endRows = `UPDATE jobs SET state = v.state, not_until = v.not_until, failure = v.failure, ended = v.ended, attempts = 0,
  claim = '', owner = '', lease = NULL`
	endedRows = ` WHERE id = v.job AND jobs.run = v.wanted
  AND CASE WHEN id = v.job THEN jobs.state = ` + jobClaimed + ` END AND CASE WHEN id = v.job THEN claim = '' END`
	endTypes = `state smallint, not_until bigint, failure bytea, ended bigint, job text, wanted text`
)

// bindJob assigns to a new run the job that asked for it.
func bindJob(ctx context.Context, w *session, run *storage.Run) error {
	if run.Job == "" {
		return nil
	}
	if w.dialect.posts && w.many {
		return w.post(ctx, passed, bindToRun, run.Job, run.ID)
	}
	done, err := w.exec(ctx, bindToRun, run.Job, run.ID)
	if err != nil || done == 1 {
		return err
	}
	job, err := findJob(ctx, w, run.Job)
	if err != nil {
		return err
	}
	return rules.Wanted(&job, run.ID)
}

// endJobOf ends the job of a run within the checkpoint; nil is none.
func endJobOf(ctx context.Context, w *session, run string, end *storage.JobEnd) error {
	switch {
	case end == nil:
		return nil
	case w.dialect.posts && w.many && end.ClaimID == "":
		return w.post(ctx, passed, endWithRun, end.State, micros(end.NotUntil), codec.EncodeFailure(end.Failure), endedNow(end), end.Job, run)
	default:
		return endJob(ctx, w, run, end)
	}
}
