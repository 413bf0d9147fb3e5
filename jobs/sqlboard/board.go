// Package sqlboard is the board of jobs over the records of a store: they lie in
// the database in which the runs are, so a job and its run change in one commit.
package sqlboard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Board is a board over a store, in a database or in memory. Make one with New.
type Board struct {
	store  storage.Store
	policy jobs.Policy
}

var _ jobs.Board = (*Board)(nil)

// New returns the board of a store. The policy is that of this board's own claims:
// others on the same store may have another.
func New(store storage.Store, policy jobs.Policy) *Board {
	return &Board{store: store, policy: policy.WithDefaults()}
}

// Store returns the store whose board it is.
func (b *Board) Store() storage.Store { return b.store }

// Post puts jobs on the board.
func (b *Board) Post(ctx context.Context, list ...jobs.Job) ([]string, error) {
	return b.post(list, func(job storage.Job) error { return b.store.PostJob(ctx, job) })
}

// ErrNoTx is returned by PostTx when the store is in no database.
var ErrNoTx = errors.New("sqlboard: the store has no database in which a job could be posted")

// PostTx posts jobs in a transaction of the caller's own on the store's database:
// they are there if it commits, together with what else it wrote, and else were
// never posted. Within a task, [atom.Tx] gives such a transaction. It returns
// ErrNoTx.
func (b *Board) PostTx(ctx context.Context, tx *sql.Tx, list ...jobs.Job) ([]string, error) {
	poster, ok := b.store.(interface {
		PostJobTx(ctx context.Context, tx *sql.Tx, job storage.Job) error
	})
	if !ok {
		return nil, ErrNoTx
	}
	return b.post(list, func(job storage.Job) error { return poster.PostJobTx(ctx, tx, job) })
}

// post posts jobs one by one.
func (b *Board) post(list []jobs.Job, post func(storage.Job) error) ([]string, error) {
	records, err := jobs.Records(time.Now(), list...)
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

// Claim claims jobs. Those that were claimed in vain too often are parked instead.
func (b *Board) Claim(ctx context.Context, w jobs.Want) ([]jobs.Claim, error) {
	want := max(w.Limit, 1)
	var claims []jobs.Claim
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
			c := jobs.Claim{Job: list[i], Until: until}
			if list[i].Attempts <= b.policy.Attempts {
				claims = append(claims, c)
				continue
			}
			spent++
			if err := b.Park(ctx, c, b.inVain(&list[i])); err != nil && !errors.Is(err, jobs.ErrClaimLost) {
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

// Renew prolongs a claim.
func (b *Board) Renew(ctx context.Context, c jobs.Claim) error {
	return b.store.RenewJob(ctx, c.Job.ID, c.Job.Epoch, c.Job.ClaimID, b.policy.Lease)
}

// Finish ends a job.
func (b *Board) Finish(ctx context.Context, c jobs.Claim) error {
	return b.end(ctx, c, storage.JobEnd{State: states.JobComplete})
}

// Retry gives a job back, for a while.
func (b *Board) Retry(ctx context.Context, c jobs.Claim, why *atom.Failure) error {
	if c.Job.Attempts >= b.policy.Attempts {
		return b.Park(ctx, c, why)
	}
	wait := b.policy.Backoff.Jittered(c.Job.Attempts, rand.Float64()) //nolint:gosec // only spreads waits
	return b.end(ctx, c, storage.JobEnd{State: states.JobScheduled, NotUntil: time.Now().Add(wait), Failure: why})
}

// Park sets a job aside.
func (b *Board) Park(ctx context.Context, c jobs.Claim, why *atom.Failure) error {
	return b.end(ctx, c, storage.JobEnd{State: states.JobParked, Failure: why})
}

func (b *Board) end(ctx context.Context, c jobs.Claim, end storage.JobEnd) error {
	end.Job, end.Epoch, end.ClaimID = c.Job.ID, c.Job.Epoch, c.Job.ClaimID
	return b.store.EndJob(ctx, end)
}

// Release puts a job back on the board.
func (b *Board) Release(ctx context.Context, id string) error {
	return refused(b.store.EndJob(ctx, storage.JobEnd{Job: id, State: states.JobUnclaimed}))
}

// Cancel ends an unclaimed job.
func (b *Board) Cancel(ctx context.Context, id, why string) error {
	return refused(b.store.EndJob(ctx, storage.JobEnd{
		Job: id, State: states.JobComplete, Failure: &atom.Failure{Code: atom.CodeCancelled, Message: why},
	}))
}

// refused tells a change that the state forbids from other errors.
func refused(err error) error {
	if errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrFenced) {
		return fmt.Errorf("%w: %w", jobs.ErrRefused, err)
	}
	return err
}

// Job returns one job.
func (b *Board) Job(ctx context.Context, id string) (storage.Job, error) { return b.store.Job(ctx, id) }

// List lists jobs, in the order in which they would be claimed.
func (b *Board) List(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	return b.store.JobList(ctx, q)
}

// Posted returns a channel that is closed when something may have come.
func (b *Board) Posted() <-chan struct{} { return b.store.Changed() }
