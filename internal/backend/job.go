package backend

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Jobs is the part of a [Store] that keeps jobs. Programs use package jobs, which builds on it.
type Jobs interface {
	// PostJob adds jobs in one commit, in their order. If ids are taken by jobs with the same flow, run and input, it adds
	// the other jobs and returns ErrExists; if one of those jobs differs, it returns ErrJobDiffers. It also returns
	// ErrExists if a job that has not ended has the Unique of a job, and then sets the ID and Run in the list to those of
	// that job.
	// After any other error it has added none, unless the error is ErrUnsure.
	PostJob(ctx context.Context, list ...storage.Job) error
	// ClaimJobs claims up to q.Limit jobs, larger priority first, then older first, and raises their epochs. It
	// claims unclaimed jobs, and jobs whose lease has expired or whose owner has died. It does not claim a job that
	// is bound to a run.
	ClaimJobs(ctx context.Context, q JobClaim) ([]storage.Job, error)
	// EndJob applies a JobEnd outside of a checkpoint. It returns ErrFenced if the claim is void, or if end has no
	// claim and a process has claimed the job. If the job's state does not allow the change, it returns ErrInvalid.
	EndJob(ctx context.Context, end JobEnd) error
	// Job returns the job with that id, or ErrNotFound.
	Job(ctx context.Context, id string) (storage.Job, error)
	// JobList returns the jobs that q selects. With a limit it may return fewer, see [storage.PageBytes]; an empty
	// result means that none is left. [EachJob] reads them page by page. If the record of a job is damaged, the error
	// is in the Job.
	JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error)
	// JobCounts counts the jobs that have not ended, by state in the order of the states. It leaves out states
	// without jobs. Its cost grows with the number of jobs.
	JobCounts(ctx context.Context) ([]JobCount, error)
	// PurgeJobs deletes jobs that have ended and whose run does not exist or was purged, and returns how many it
	// deleted. The id of a deleted job can be posted again.
	PurgeJobs(ctx context.Context, q JobPurge) (int, error)
}

// A JobCount is the number of jobs in one state.
type JobCount struct {
	State states.Job // state of the jobs
	Jobs  int        // number of jobs
	Since time.Time  // since when the oldest of them could be claimed
}

// A JobPurge selects ended jobs to delete. The jobs that ended first are deleted first.
type JobPurge struct {
	Before time.Time // delete jobs that ended before then
	Flow   string    // name of the flow; "" means every flow
	Except []string  // flows whose jobs are not deleted
	Limit  int       // maximum number of jobs; 0 means all
}

// A JobClaim selects jobs to claim.
type JobClaim struct {
	Flows []string // names of flows
	// Languages adds the flows with a stored definition in one of these languages. The definition's own version does
	// not matter, nor what follows a slash in the name of its language: "asl/spec2016" is "asl". If both Flows and
	// Languages are empty, ClaimJobs takes jobs of every flow. The cost does not depend on the number of definitions.
	Languages []string
	Labels    map[string]string // what the process offers; ClaimJobs leaves out a job that needs anything else
	Lease     time.Duration     // how long the claim holds unless it is renewed
	Limit     int               // maximum number of jobs; 0 means 1
}

// OnlyOpenJobs reports whether the query selects only jobs that have not ended.
func OnlyOpenJobs(q *storage.JobQuery) bool {
	return len(q.States) > 0 && !slices.ContainsFunc(q.States, states.Job.Ended)
}

// NeedLabel is the prefix of labels that name what a process must offer to drive the run. For example, a run with
// the label "needs.gpu" = "a100" is due only for processes that offer "gpu" = "a100". The store turns the labels of
// a job into such labels of its run.
const NeedLabel = "needs."

// CheckJob returns an error that wraps ErrInvalid and names the problem if the job cannot be posted.
func CheckJob(j *storage.Job) error {
	switch {
	case j.ID == "":
		return fmt.Errorf("%w: the job's id is empty", storage.ErrInvalid)
	case len(j.ID) > MaxID:
		return fmt.Errorf("%w: the job's id %.20q… is longer than %d bytes", storage.ErrInvalid, j.ID, MaxID)
	case len(j.Flow) > MaxID:
		return longFlow(j.Flow)
	case len(j.Unique) > MaxID:
		return fmt.Errorf("%w: Unique %.20q… of job %q is longer than %d bytes", storage.ErrInvalid, j.Unique, j.ID, MaxID)
	}
	if err := checkTexts(j.ID, j.Run, j.Flow, j.Unique); err != nil {
		return err
	}
	if j.Trace != "" {
		if err := atom.CheckTraceparent(j.Trace); err != nil {
			return fmt.Errorf("%w: job %q: %w", storage.ErrInvalid, j.ID, err)
		}
	}
	if err := checkValue("input of job "+j.ID, j.Input); err != nil {
		return err
	}
	if err := checkLabels(j.Labels); err != nil {
		return err
	}
	return checkLabels(j.RunLabels)
}
