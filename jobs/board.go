package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

var (
	// ErrNotFound is returned when there is no such job.
	ErrNotFound = storage.ErrNotFound
	// ErrClaimLost is returned when the claim is no longer the job's: its lease ran
	// out and another claimant has the job, it was given back, or its run has it.
	// Nothing was changed; the former claimant writes nothing more.
	ErrClaimLost = storage.ErrFenced
	// ErrRefused is returned when the state of the job does not allow what was
	// asked for.
	ErrRefused = errors.New("jobs: the state of the job does not allow it")
)

// A Board is where jobs wait. Its methods may be called by any number of
// goroutines and processes. What they promise is tested by package jobstest.
type Board interface {
	// Post puts jobs on the board, those that are not there by their ids, and
	// returns their ids. A crash may leave only the first of them posted: post
	// them again.
	Post(ctx context.Context, jobs ...Job) (ids []string, err error)
	// Claim claims up to w.Limit jobs: those of larger priority first, then those
	// posted first. None is no error.
	Claim(ctx context.Context, w Want) ([]Claim, error)
	// Renew lets a claim hold for a whole lease from now on, also when the lease
	// had run out and no other claimant has the job meanwhile. It returns
	// ErrClaimLost.
	Renew(ctx context.Context, c Claim) error

	// Finish ends the job of a claim: what it wanted is done. ErrClaimLost.
	Finish(ctx context.Context, c Claim) error
	// Retry gives the job of a claim back, to be tried again after a while that
	// grows with the number of attempts; when those are used up, it is parked with
	// the reason. ErrClaimLost.
	Retry(ctx context.Context, c Claim, why *atom.Failure) error
	// Park sets the job of a claim aside, with the reason. ErrClaimLost.
	Park(ctx context.Context, c Claim, why *atom.Failure) error

	// Release puts a job back on the board that is parked, or waits for its time:
	// it may be claimed at once. It returns ErrRefused for other jobs.
	Release(ctx context.Context, id string) error
	// Cancel ends an unclaimed job, with the reason. It returns
	// ErrRefused for others: cancel the run of a job that has one.
	Cancel(ctx context.Context, id string, why string) error

	Job(ctx context.Context, id string) (storage.Job, error)
	List(ctx context.Context, q storage.JobQuery) ([]storage.Job, error)
	// Posted returns a channel that is closed when something may have come to the
	// board. It is a hint: take the channel, claim, then wait.
	Posted() <-chan struct{}

	Timetable
}

// A Want is what a claimant can do.
type Want struct {
	Flows  []string          // any of these; none is every flow
	Offers map[string]string // what there is of what jobs ask for by their labels
	Limit  int               // 0 is 1
}

// A Claim is a job that a claimant has for the time of a lease.
type Claim struct {
	Job   storage.Job
	Until time.Time // by the claimant's own clock, when it must have been renewed
}

// A Policy is how a board treats what goes wrong.
type Policy struct {
	Lease    time.Duration // how long a claim holds; 0 is DefaultLease
	Attempts int           // how often a job is claimed in vain before it is parked; 0 is DefaultAttempts
	Backoff  atom.Backoff  // how long a job waits after an attempt that came to nothing; the zero Backoff is DefaultBackoff
}

// What a zero Policy says.
const (
	DefaultLease    = 30 * time.Second
	DefaultAttempts = 10
)

// DefaultBackoff is one second, doubled with each attempt, five minutes at most.
func DefaultBackoff() atom.Backoff { return atom.Exponential(time.Second, 5*time.Minute) }

// WithDefaults fills in what p leaves out.
func (p Policy) WithDefaults() Policy {
	if p.Lease <= 0 {
		p.Lease = DefaultLease
	}
	if p.Attempts <= 0 {
		p.Attempts = DefaultAttempts
	}
	if p.Backoff == (atom.Backoff{}) {
		p.Backoff = DefaultBackoff()
	}
	return p
}
