package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// Jobs are the job records; package jobs makes a board of them.
type Jobs interface {
	// PostJob adds a job. It returns ErrExists when the id is taken.
	PostJob(ctx context.Context, job Job) error
	// ClaimJobs claims up to q.Limit jobs that are free, or whose lease has run
	// out, or whose owner has died, by priority (larger first) and then age,
	// raising their epochs. A Limit of 0 is 1. Those that a run has are not free.
	ClaimJobs(ctx context.Context, q JobClaim) ([]Job, error)
	// RenewJob prolongs a claim. It returns ErrFenced when the claim is void.
	RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error
	// EndJob ends a claim outside of a checkpoint, or without a claim changes a job
	// that is not claimed. It returns ErrFenced when the claim is void, or when
	// there is none and the job is claimed; ErrInvalid when its state does not
	// allow the change.
	EndJob(ctx context.Context, end JobEnd) error
	Job(ctx context.Context, id string) (Job, error)
	JobList(ctx context.Context, q JobQuery) ([]Job, error)
	// JobCounts counts the jobs that have not ended, state by state in their order;
	// states that none is in are left out. It looks at all jobs.
	JobCounts(ctx context.Context) ([]JobCount, error)
	// PurgeJobs deletes jobs that have ended and whose run is not there, or not any
	// more, and returns how many. An id may then be posted anew.
	PurgeJobs(ctx context.Context, q JobPurge) (int, error)
}

// A JobCount says how many jobs are in a state.
type JobCount struct {
	State states.Job
	Jobs  int
	Since time.Time // the oldest was posted then, or was not to be begun before
}

// A JobPurge says which ended jobs to delete. The jobs that ended first are deleted first.
type JobPurge struct {
	Before time.Time // those that ended before then
	Flow   string    // "" is every flow
	Except []string  // flows whose jobs are kept
	Limit  int       // 0 is all
}

// A JobClaim says which jobs to claim.
type JobClaim struct {
	Flows  []string          // any of these; none is every flow
	Labels map[string]string // a job's labels must be among these
	Lease  time.Duration
	Limit  int
}

// A JobQuery selects jobs, in the order they would be claimed.
type JobQuery struct {
	States []states.Job // any of these; none is every state
	Limit  int          // 0 is all
}

// A Job is a posted request for a run. The process that claims it makes the run; from
// then on the job is the run's, and ends with it.
type Job struct {
	ID       string
	Run      string // id of the run that it wants
	Flow     string
	Version  int64
	Input    atom.Value
	Labels   map[string]string // what a process that claims it must offer
	Priority int
	State    states.Job
	NotUntil time.Time // when it may be claimed; zero is at once
	Created  time.Time
	Ended    time.Time // by the clock of the process that ended it; zero when it has not
	// RunLabels are labels of the run, beside those of what it needs.
	RunLabels map[string]string
	Trace     string // traceparent of the caller that posted it, and of the run; "" is none

	Epoch    int64     // raised by each claim, never reset
	ClaimID  string    // of the process that has claimed it; "" when none has, or its run has it
	Owner    string    // of the claim
	Lease    time.Time // until when the claim holds, by the store's clock; zero when its run has it
	Attempts int       // claims that came to nothing so far
	Failure  *atom.Failure
}

// NeedLabel is the prefix of labels that name what a process must offer to drive the run:
// a run with the label "needs.gpu" = "a100" is due only for processes that offer
// "gpu" = "a100". The labels of a job become such labels of its run.
const NeedLabel = "needs."

// Check returns ErrInvalid, with the reason, if the job cannot be posted as it is.
func (j *Job) Check() error {
	switch {
	case j.ID == "":
		return fmt.Errorf("%w: a job needs an id", ErrInvalid)
	case len(j.ID) > MaxID:
		return fmt.Errorf("%w: the job's id %.20q… is longer than %d bytes", ErrInvalid, j.ID, MaxID)
	}
	if err := checkTexts(j.ID, j.Run, j.Flow); err != nil {
		return err
	}
	if j.Trace != "" {
		if err := atom.CheckTraceparent(j.Trace); err != nil {
			return fmt.Errorf("%w: job %q: %w", ErrInvalid, j.ID, err)
		}
	}
	if err := checkLabels(j.Labels); err != nil {
		return err
	}
	return checkLabels(j.RunLabels)
}
