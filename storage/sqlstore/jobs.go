package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const (
	jobColumns = `n, id, run, flow, version, input, labels, priority, state, not_until, created,
  epoch, claim, owner, lease, attempts, failure, run_labels, ended, trace, sole`
	selectJobs = `SELECT ` + jobColumns + ` FROM jobs`
	selectJob  = selectJobs + ` WHERE id = $1`
)

type jobRow struct {
	unread

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
	Sole     string `db:"sole"`
}

func (r *jobRow) job() (storage.Job, error) {
	failure, err := codec.DecodeFailure(r.Failure)
	if !states.Job(r.State).Known() {
		err = errors.Join(fmt.Errorf("%w: state %d", storage.ErrCorrupt, r.State), err)
		r.State = 0
	}
	job := storage.Job{
		ID: r.ID, Number: r.N, Run: r.Run, Flow: r.Flow, Version: r.Version, Input: r.Input, Priority: r.Priority,
		State: states.Job(r.State), NotUntil: r.NotUntil.time(), Created: r.Created.time(), Ended: r.Ended.time(),
		Epoch: r.Epoch, ClaimID: r.Claim, Owner: r.Owner, Lease: r.Lease.time(), Attempts: r.Attempts, Failure: failure,
		Trace: r.Trace, Unique: r.Sole,
	}
	if bad := errors.Join(decodeLabels(r.Labels, &job.Labels), decodeLabels(r.Tags, &job.RunLabels)); bad != nil {
		err = errors.Join(err, fmt.Errorf("%w: labels: %w", storage.ErrCorrupt, bad))
	}
	if err = errors.Join(r.damage, err); err != nil {
		err = fmt.Errorf("job %q: %w", r.ID, err)
	}
	return job, err
}

func findJob(ctx context.Context, s *session, id string) (storage.Job, error) {
	var row jobRow
	if err := s.Get(ctx, &row, selectJob, id); err != nil {
		return storage.Job{}, notFound(err, "job", id)
	}
	return row.job()
}

// Job implements [backend.Jobs.Job].
func (s *store) Job(ctx context.Context, id string) (job storage.Job, err error) {
	err = s.view(ctx, func(r *session) (err error) {
		job, err = findJob(ctx, r, id)
		return err
	})
	return job, err
}

// JobList implements [backend.Jobs.JobList].
func (s *store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	var out []storage.Job
	err := s.view(ctx, func(r *session) error {
		space := codec.NewSpace(q.Limit)
		for _, after := range stretchesAfter(&q) {
			if space.Full() {
				break
			}
			text, args := listJobs(&q, after, max(q.Limit-len(out), 0))
			if err := r.EachOnce(ctx, text, args, func(found *sqlx.Rows) (bool, error) {
				var row jobRow
				if err := scanRow(found, &row); err != nil {
					return false, err
				}
				job, err := row.job()
				if job.Err = err; err != nil {
					job.Failure = unreadable(err)
				}
				out = append(out, job)
				space.Take(codec.SizeOfJob(&job))
				return !space.Full(), nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// A stretch is a condition for jobs that follow one another in a listing, with its arguments.
type stretch func(*arguments) string

// stretchesAfter returns the stretches that contain the jobs after the place of q.After. On the board, these are the
// jobs of the same priority and the jobs of smaller priority: an index finds the first of each stretch at once, and
// could not find the first of both together.
func stretchesAfter(q *storage.JobQuery) []stretch {
	same := func(a *arguments) string {
		return `priority = ` + a.add(q.After.Priority) + ` AND n > ` + a.add(q.After.Number)
	}
	smaller := func(a *arguments) string { return `priority < ` + a.add(q.After.Priority) }
	switch {
	case q.After == nil:
		return []stretch{nil}
	case backend.OnlyOpenJobs(q):
		return []stretch{same, smaller}
	default:
		return []stretch{func(a *arguments) string { return `n > ` + a.add(q.After.Number) }}
	}
}

// listJobs returns the SQL of a JobQuery for the jobs of a stretch, and its arguments.
func listJobs(q *storage.JobQuery, in stretch, limit int) (string, []any) {
	var where []string
	args, order := arguments{}, ` ORDER BY n`
	if len(q.States) > 0 {
		list := make([]string, len(q.States))
		for i, state := range q.States {
			list[i] = args.add(state)
		}
		where = append(where, `state IN (`+strings.Join(list, ", ")+`)`)
	}
	if backend.OnlyOpenJobs(q) {
		order = ` ORDER BY priority DESC, n`
		where = append(where, `state <> `+jobComplete) // an index contains only the jobs that have not ended
	}
	if in != nil {
		where = append(where, in(&args))
	}
	text := selectJobs
	if len(where) > 0 {
		text += ` WHERE ` + strings.Join(where, ` AND `)
	}
	return text + order + ` LIMIT ` + args.add(limitOr(limit)), args
}

const countJobs = `SELECT state, count(*) AS jobs, min(CAST(CASE WHEN not_until > created
	THEN not_until ELSE created END AS BIGINT)) AS since
FROM jobs WHERE state <> ` + jobComplete + ` GROUP BY state ORDER BY state`

// JobCounts implements [backend.Jobs.JobCounts].
func (s *store) JobCounts(ctx context.Context) (counts []backend.JobCount, err error) {
	err = s.glance(ctx, func(r *session) (err error) {
		counts, err = readable(ctx, r, (*jobCountRow).count, countJobs)
		return err
	})
	return counts, err
}

type jobCountRow struct {
	unread

	State int    `db:"state"`
	Jobs  int    `db:"jobs"`
	Since moment `db:"since"`
}

func (r *jobCountRow) count() (backend.JobCount, error) {
	state := states.Job(r.State)
	if int(state) != r.State || !state.Known() {
		return backend.JobCount{}, fmt.Errorf("%w: state %d", storage.ErrCorrupt, r.State)
	}
	return backend.JobCount{State: state, Jobs: r.Jobs, Since: r.Since.time()}, nil
}
