package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Jobs is the part of a [Store] that keeps jobs. Programs use package jobs, which builds on it.
type Jobs interface {
	// PostJob adds jobs in one commit, in their order. If ids are taken, it adds the other jobs and returns ErrExists.
	// After any other error it has added none, unless the error is ErrUnsure.
	PostJob(ctx context.Context, list ...Job) error
	// ClaimJobs claims up to q.Limit jobs, larger priority first, then older first, and raises their epochs. It
	// claims unclaimed jobs, and jobs whose lease has expired or whose owner has died. It does not claim a job that
	// is bound to a run.
	ClaimJobs(ctx context.Context, q JobClaim) ([]Job, error)
	// RenewJob sets the lease of a claim to end after the given time from now. If the claim is void, it returns
	// ErrFenced.
	RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error
	// EndJob applies a JobEnd outside of a checkpoint. It returns ErrFenced if the claim is void, or if end has no
	// claim and a process has claimed the job. If the job's state does not allow the change, it returns ErrInvalid.
	EndJob(ctx context.Context, end JobEnd) error
	// Job returns the job with that id, or ErrNotFound.
	Job(ctx context.Context, id string) (Job, error)
	// JobList returns the jobs that q selects. With a limit it may return fewer, see [PageBytes]; an empty result means
	// that none is left. [EachJob] reads them page by page. If the record of a job is damaged, the error is in the Job.
	JobList(ctx context.Context, q JobQuery) ([]Job, error)
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
	// Languages adds the flows with a stored definition in one of these languages. The definition's own version does not
	// matter, nor what follows a slash in the name of its language: "asl/spec2016" is "asl". If both Flows and Languages
	// are empty, ClaimJobs takes jobs of every flow. The cost does not depend on the number of definitions.
	Languages []string
	Labels    map[string]string // what the process offers; ClaimJobs leaves out a job that needs anything else
	Lease     time.Duration     // how long the claim holds unless it is renewed
	Limit     int               // maximum number of jobs; 0 means 1
}

// A JobQuery selects jobs. If it selects only jobs that have not ended, they come in the order in which ClaimJobs would
// claim them: larger priority first, then older first. Otherwise they come in the order in which they were posted.
//
// The place of After in the listing are its Priority and its Number, so a listing continues after a job that has ended
// or was purged.
type JobQuery struct {
	States []states.Job // states of the jobs; empty means every state
	After  *Job         // only jobs that the listing has after the place of this one, for paging; nil means all
	Limit  int          // maximum number of jobs; 0 means all
}

// Board reports whether the query selects only jobs that have not ended.
func (q *JobQuery) Board() bool {
	return len(q.States) > 0 && !slices.ContainsFunc(q.States, states.Job.Ended)
}

// A Job is a posted request for a run. The process that claims the job creates the run. From then on the job is
// bound to the run and ends with it.
type Job struct {
	ID       string            // chosen by the caller that posted it
	Number   int64             `json:"-"` // set by the store; larger than those of stored jobs that were posted before
	Run      string            // id of the run that the job asks for
	Flow     string            // name of the flow
	Version  int64             // version of the flow; 0 means the latest
	Input    atom.Value        // input of the run
	Labels   map[string]string // what a process must offer to claim it
	Priority int               // jobs of larger priority are claimed first
	State    states.Job        // current state
	NotUntil time.Time         // earliest time of a claim; zero means at once
	Created  time.Time         // when it was posted
	Ended    time.Time         // when it ended, by the clock of the process that ended it; zero if it has not ended
	// RunLabels are the labels of the run. The store adds the labels for what the run needs, see [NeedLabel].
	RunLabels map[string]string
	Trace     string // W3C traceparent under which the run starts; "" if there is none

	Epoch    int64         // rises with each claim; the store compares it before it writes under a claim
	ClaimID  string        // id of the current claim; "" if no process has claimed the job, or its run exists
	Owner    string        // id of the process that claimed it last
	Lease    time.Time     // when the claim expires, by the store's clock; zero if the run exists
	Attempts int           // number of claims that did not create a run
	Failure  *atom.Failure // why the job is parked, or why its run failed; nil otherwise

	// Err is set in a list, if the record is damaged: why. Failure says it too, and what cannot be read is zero.
	Err error `json:"-"`
}

// NeedLabel is the prefix of labels that name what a process must offer to drive the run. For example, a run with
// the label "needs.gpu" = "a100" is due only for processes that offer "gpu" = "a100". The store turns the labels of
// a job into such labels of its run.
const NeedLabel = "needs."

// Check returns an error that wraps ErrInvalid and names the problem if the job cannot be posted.
func (j *Job) Check() error {
	switch {
	case j.ID == "":
		return fmt.Errorf("%w: the job's id is empty", ErrInvalid)
	case len(j.ID) > MaxID:
		return fmt.Errorf("%w: the job's id %.20q… is longer than %d bytes", ErrInvalid, j.ID, MaxID)
	case len(j.Flow) > MaxID:
		return longFlow(j.Flow)
	}
	if err := checkTexts(j.ID, j.Run, j.Flow); err != nil {
		return err
	}
	if j.Trace != "" {
		if err := atom.CheckTraceparent(j.Trace); err != nil {
			return fmt.Errorf("%w: job %q: %w", ErrInvalid, j.ID, err)
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
