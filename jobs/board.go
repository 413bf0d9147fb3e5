package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

var (
	// ErrNotFound is returned when there is no such job.
	ErrNotFound = storage.ErrNotFound
	// ErrClaimLost is returned when the claim is no longer the job's: its lease ran
	// out and another claimant has the job, it was given back, or its run has it.
	// Nothing was changed; the former claimant writes nothing more.
	ErrClaimLost = storage.ErrFenced
	// ErrRefused is returned when the state of the job does not allow the request.
	ErrRefused = errors.New("jobs: the state of the job does not allow it")
	// ErrNoTx is returned by PostTx when the store is in no database.
	ErrNoTx = errors.New("jobs: the store has no database in which a job could be posted")
)

// A Board is where jobs wait: in the database in which the runs are, so a job and
// its run change in one commit. Its methods may be called by any number of
// goroutines, and any number of processes may have boards on one database.
type Board struct {
	store  storage.Store
	policy Policy
}

// New returns the board of a store. The policy is that of this board's own claims:
// others on the same store may have another.
func New(store storage.Store, policy Policy) *Board {
	return &Board{store: store, policy: policy.withDefaults()}
}

// A Want says which jobs a claimant can do.
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

// Store returns the store whose board it is.
func (b *Board) Store() storage.Store { return b.store }

// Post posts the jobs whose ids are not on the board yet, and returns the ids of all. A
// crash may leave only the first of them posted: post them again.
func (b *Board) Post(ctx context.Context, list ...Job) ([]string, error) {
	return b.post(list, func(job storage.Job) error { return b.store.PostJob(ctx, job) })
}

// PostTx posts jobs in the caller's own transaction on the store's database. If the
// transaction commits, the jobs are posted together with its other writes; otherwise they
// were never posted. Within a task, [atom.Tx] gives such a transaction. If the store has
// no database, PostTx returns ErrNoTx.
func (b *Board) PostTx(ctx context.Context, tx *sql.Tx, list ...Job) ([]string, error) {
	poster, ok := b.store.(interface {
		PostJobTx(ctx context.Context, tx *sql.Tx, job storage.Job) error
	})
	if !ok {
		return nil, ErrNoTx
	}
	return b.post(list, func(job storage.Job) error { return poster.PostJobTx(ctx, tx, job) })
}

// post posts jobs one by one.
func (b *Board) post(list []Job, post func(storage.Job) error) ([]string, error) {
	records, err := records(time.Now(), list)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(records))
	for i := range records {
		ids[i] = records[i].ID
		if err := post(records[i]); err != nil && !errors.Is(err, storage.ErrExists) {
			return ids[:i], err
		}
	}
	return ids, nil
}

// Claim claims up to w.Limit jobs: those of larger priority first, then those
// posted first. None is no error. Those that were claimed in vain too often are
// parked instead.
func (b *Board) Claim(ctx context.Context, w Want) ([]Claim, error) {
	want := max(w.Limit, 1)
	var claims []Claim
	for len(claims) < want {
		until := time.Now().Add(b.policy.Lease)
		list, err := b.store.ClaimJobs(ctx, storage.JobClaim{
			Flows: w.Flows, Labels: w.Offers, Lease: b.policy.Lease, Limit: want - len(claims),
		})
		if err != nil {
			return claims, err
		}
		spent := 0
		for i := range list {
			c := Claim{Job: list[i], Until: until}
			if list[i].Attempts <= b.policy.Attempts {
				claims = append(claims, c)
				continue
			}
			spent++
			if err := b.Park(ctx, c, b.inVain(&list[i])); err != nil && !errors.Is(err, ErrClaimLost) {
				return claims, err
			}
		}
		if spent == 0 {
			break
		}
	}
	return claims, nil
}

// inVain says why a job is parked that was claimed too often.
func (b *Board) inVain(j *storage.Job) *atom.Failure {
	f := &atom.Failure{
		Code: atom.CodeLost, Attempt: j.Attempts - 1,
		Message: fmt.Sprintf("it was claimed %d times, and nothing came of it", j.Attempts-1),
	}
	if j.Failure != nil {
		f.Message += "; the last time: " + j.Failure.Error()
	}
	return f
}

// Renew lets a claim hold for a whole lease from now on, also when the lease
// had run out and no other claimant has the job meanwhile. It returns
// ErrClaimLost.
func (b *Board) Renew(ctx context.Context, c Claim) error {
	return b.store.RenewJob(ctx, c.Job.ID, c.Job.Epoch, c.Job.ClaimID, b.policy.Lease)
}

// Finish ends the job of a claim as done. It returns ErrClaimLost.
func (b *Board) Finish(ctx context.Context, c Claim) error {
	return b.end(ctx, c, storage.JobEnd{State: states.JobComplete})
}

// Retry releases the job of a claim, to be retried after a wait that grows with the number
// of attempts. If the attempts are used up, Retry parks the job with the reason. It
// returns ErrClaimLost.
func (b *Board) Retry(ctx context.Context, c Claim, why *atom.Failure) error {
	if c.Job.Attempts >= b.policy.Attempts {
		return b.Park(ctx, c, why)
	}
	wait := b.policy.Backoff.Jittered(c.Job.Attempts, rand.Float64()) //nolint:gosec // only spreads waits
	return b.end(ctx, c, storage.JobEnd{State: states.JobScheduled, NotUntil: time.Now().Add(wait), Failure: why})
}

// Park sets the job of a claim aside, with the reason. It returns ErrClaimLost.
func (b *Board) Park(ctx context.Context, c Claim, why *atom.Failure) error {
	return b.end(ctx, c, storage.JobEnd{State: states.JobParked, Failure: why})
}

func (b *Board) end(ctx context.Context, c Claim, end storage.JobEnd) error {
	end.Job, end.Epoch, end.ClaimID = c.Job.ID, c.Job.Epoch, c.Job.ClaimID
	return b.store.EndJob(ctx, end)
}

// Release puts a job back on the board that is parked, or waits for its time:
// it may be claimed at once. It returns ErrRefused for other jobs.
func (b *Board) Release(ctx context.Context, id string) error {
	return refused(b.store.EndJob(ctx, storage.JobEnd{Job: id, State: states.JobUnclaimed}))
}

// Cancel ends an unclaimed job, with the reason. It returns ErrRefused for others:
// cancel the run of a job that has one.
func (b *Board) Cancel(ctx context.Context, id, why string) error {
	return refused(b.store.EndJob(ctx, storage.JobEnd{
		Job: id, State: states.JobComplete, Failure: &atom.Failure{Code: atom.CodeCancelled, Message: why},
	}))
}

// refused tells a change that the state forbids from other errors.
func refused(err error) error {
	if errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrFenced) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// Job returns one job, or ErrNotFound.
func (b *Board) Job(ctx context.Context, id string) (storage.Job, error) { return b.store.Job(ctx, id) }

// List lists jobs, in the order in which they would be claimed.
func (b *Board) List(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	return b.store.JobList(ctx, q)
}

// Posted returns a channel that is closed when something may have come to the
// board. It is a hint: take the channel, claim, then wait.
func (b *Board) Posted() <-chan struct{} { return b.store.Changed() }
