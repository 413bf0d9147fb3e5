package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

var (
	// ErrRefused is returned if the state of the job does not allow the request.
	ErrRefused = errors.New("jobs: the state of the job does not allow the request")
	// ErrNoTx is returned by PostTx if the store has no database.
	ErrNoTx = errors.New("jobs: the store has no database in which a job could be posted")
)

// A Board contains the jobs that wait to be claimed. It is in the same database as the runs, so one commit can
// change a job and its run. Any number of goroutines may call its methods, and any number of processes may have a
// board on one database.
type Board struct {
	store  backend.Store
	policy Policy
}

// New returns the board of a store. The policy applies to this board's own claims; other boards on the same store
// may have other policies.
func New(store storage.Store, policy Policy) *Board {
	return &Board{store: backend.Of(store), policy: policy.withDefaults()}
}

// Store returns the store of the board.
func (b *Board) Store() storage.Store { return b.store }

// A ClaimQuery selects the jobs that a process asks for, see [Board.Claim].
type ClaimQuery struct {
	Flows []string // names of flows
	// Languages adds the flows with a stored definition in one of these languages. If both Flows
	// and Languages are empty, Claim takes jobs of every flow.
	Languages []string
	Offers    map[string]string // what this process offers; Claim leaves out jobs that need anything else
	Limit     int               // maximum number of jobs; 0 means 1
}

// A Claim is a job that a process has claimed for the duration of a lease.
type Claim struct {
	Job   storage.Job // record of the job
	Until time.Time   // when the claim expires unless it is renewed, by this process's clock
}

// Post posts the jobs whose ids are not on the board, and returns the ids of all jobs: of one whose [Job.Unique] an
// open job has, the id of that job. Up to 500 jobs with up to 4 MiB of inputs share a commit. If the process dies
// meanwhile, only the first of them may be posted: post them all again. If an id is that of a job with another flow,
// run or input, Post posts none of its commit, and returns an error that wraps [storage.ErrJobDiffers]. If an input is
// not what the flow takes, as the conductor that served the flow last has stored it, Post posts nothing and returns an
// error that wraps [storage.ErrInvalid].
func (b *Board) Post(ctx context.Context, list ...Job) ([]string, error) {
	return b.post(ctx, list, func(part []storage.Job) error { return b.store.PostJob(ctx, part...) })
}

// PostNew posts a job as Post does, and reports whether it is new. It is false if a job with that id is on the board
// already, or an open job with its Unique, whose id PostNew then returns.
func (b *Board) PostNew(ctx context.Context, job Job) (id string, isNew bool, err error) {
	return b.postNew(ctx, job, func(part []storage.Job) error { return b.store.PostJob(ctx, part...) })
}

func (b *Board) postNew(
	ctx context.Context, job Job, post func([]storage.Job) error,
) (id string, isNew bool, err error) {
	ids, err := b.post(ctx, []Job{job}, func(part []storage.Job) error {
		err := post(part)
		isNew = err == nil
		return err
	})
	if err != nil {
		return "", false, err
	}
	return ids[0], isNew, nil
}

// PostTx posts jobs in the caller's own transaction on the store's database: a *sql.Tx or, by sqlstore.Pgx, a pgx.Tx.
// If the transaction commits, the jobs are posted together with its other writes; otherwise they are not posted. Within
// a task, [atom.Tx] returns such a transaction. If the store has no database, PostTx returns ErrNoTx. After another
// error, roll the transaction back, which may have some of the jobs.
func (b *Board) PostTx(ctx context.Context, tx storage.UserTx, list ...Job) ([]string, error) {
	return b.post(ctx, list, b.within(ctx, tx))
}

// PostNewTx is [Board.PostNew] in the caller's own transaction, see [Board.PostTx].
func (b *Board) PostNewTx(ctx context.Context, tx storage.UserTx, job Job) (id string, isNew bool, err error) {
	return b.postNew(ctx, job, b.within(ctx, tx))
}

// within returns the function that posts jobs in a transaction.
func (b *Board) within(ctx context.Context, tx storage.UserTx) func([]storage.Job) error {
	poster, ok := b.store.(interface {
		PostJobTx(ctx context.Context, tx storage.UserTx, list ...storage.Job) error
	})
	return func(part []storage.Job) error {
		if !ok {
			return ErrNoTx
		}
		return poster.PostJobTx(ctx, tx, part...)
	}
}

// maxPosted is the maximum number of jobs that are posted in one commit.
const maxPosted = 500

// post posts jobs part by part, and returns the ids of those that are on the board.
func (b *Board) post(ctx context.Context, list []Job, post func([]storage.Job) error) ([]string, error) {
	left, err := records(b.store.Now(), list)
	if err == nil {
		err = b.checkInputs(ctx, left)
	}
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(left))
	for len(left) > 0 {
		n := 0
		for bytes := 0; n < min(len(left), maxPosted) && bytes < storage.PageBytes; n++ {
			bytes += len(left[n].Input)
		}
		if err := post(left[:n]); err != nil && !errors.Is(err, storage.ErrExists) {
			return ids, err
		}
		for i := range left[:n] {
			ids = append(ids, left[i].ID)
		}
		left = left[n:]
	}
	return ids, nil
}

// checkInputs returns an error if the input of a job does not fit its flow, as far as a conductor that has the flow has
// stored what it takes.
func (b *Board) checkInputs(ctx context.Context, list []storage.Job) error {
	known := map[string]atom.Value{} // bodies of records, by flow
	for i := range list {
		j := &list[i]
		body, read := known[j.Flow]
		if !read && j.Flow != "" {
			record, err := b.store.NamedRecord(ctx, awaited.InputKind, j.Flow)
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				return err
			}
			body = record.Body
			known[j.Flow] = body
		}
		text := j.Input.JSON()
		if text == nil {
			text = []byte("{}")
		}
		if err := awaited.CheckInput(body.JSON(), j.Version, text); err != nil {
			return &inputError{fmt.Errorf("job %q of flow %q: %w", j.ID, j.Flow, err)}
		}
	}
	return nil
}

// An inputError says why an input does not fit. It wraps [storage.ErrInvalid], and has a text of its own.
type inputError struct{ error }

// Unwrap returns [storage.ErrInvalid], in place of the reason, whose text the error has.
func (e *inputError) Unwrap() error { return storage.ErrInvalid }

// Claim claims up to w.Limit jobs: larger priority first, then in the order of posting. If there are no jobs, it
// returns no error. It parks jobs whose claims created no run too often.
func (b *Board) Claim(ctx context.Context, w ClaimQuery) ([]Claim, error) {
	want := max(w.Limit, 1)
	var claims []Claim
	for len(claims) < want {
		until := time.Now().Add(b.policy.Lease)
		list, err := b.store.ClaimJobs(ctx, backend.JobClaim{
			Flows: w.Flows, Languages: w.Languages, Labels: w.Offers, Lease: b.policy.Lease, Limit: want - len(claims),
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
			if err := b.Park(ctx, c, b.inVain(&list[i])); err != nil && !errors.Is(err, storage.ErrFenced) {
				return claims, err
			}
		}
		if spent == 0 {
			break
		}
	}
	return claims, nil
}

// inVain returns the failure of a job that was claimed too often.
func (b *Board) inVain(j *storage.Job) *atom.Failure {
	f := &atom.Failure{
		Code: atom.CodeLost, Attempt: j.Attempts - 1,
		Message: fmt.Sprintf("the job was claimed %d times without creating a run", j.Attempts-1),
	}
	if j.Failure != nil {
		f.Message += "; the last time: " + j.Failure.Error()
	}
	return f
}

// Finish ends the claimed job as COMPLETE. If the claim is void, it returns storage.ErrFenced.
func (b *Board) Finish(ctx context.Context, c Claim) error {
	return b.end(ctx, c, backend.JobEnd{State: states.JobComplete})
}

// Retry releases the claimed job, which can be claimed again after a pause that grows with the number of attempts.
// If the attempts are used up, Retry parks the job with the reason. If the claim is void, it returns storage.ErrFenced.
func (b *Board) Retry(ctx context.Context, c Claim, why *atom.Failure) error {
	if c.Job.Attempts >= b.policy.Attempts {
		return b.Park(ctx, c, why)
	}
	now, err := b.Now(ctx)
	if err != nil {
		return err
	}
	wait := b.policy.Backoff.Jittered(c.Job.Attempts, rand.Float64()) //nolint:gosec // only spreads waits
	return b.end(ctx, c, backend.JobEnd{State: states.JobScheduled, NotUntil: now.Add(wait), Failure: why})
}

// Park sets the claimed job aside, with the reason. If the claim is void, it returns storage.ErrFenced.
func (b *Board) Park(ctx context.Context, c Claim, why *atom.Failure) error {
	return b.end(ctx, c, backend.JobEnd{State: states.JobParked, Failure: why})
}

func (b *Board) end(ctx context.Context, c Claim, end backend.JobEnd) error {
	end.Job, end.Epoch, end.ClaimID = c.Job.ID, c.Job.Epoch, c.Job.ClaimID
	return b.store.EndJob(ctx, end)
}

// Release makes a job claimable at once that is parked, or waits for its time. For other jobs it returns
// ErrRefused.
func (b *Board) Release(ctx context.Context, id string) error {
	return refused(b.store.EndJob(ctx, backend.JobEnd{Job: id, State: states.JobUnclaimed}))
}

// Cancel ends an unclaimed job, with the reason. For other jobs it returns ErrRefused: cancel the run of a job that
// has one.
func (b *Board) Cancel(ctx context.Context, id, why string) error {
	return refused(b.store.EndJob(ctx, backend.JobEnd{
		Job: id, State: states.JobComplete, Failure: &atom.Failure{Code: atom.CodeCancelled, Message: why},
	}))
}

// refused turns the error for a change that the job's state forbids into ErrRefused.
func refused(err error) error {
	if errors.Is(err, storage.ErrInvalid) || errors.Is(err, storage.ErrFenced) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// Job returns one job, or storage.ErrNotFound.
func (b *Board) Job(ctx context.Context, id string) (storage.Job, error) { return b.store.Job(ctx, id) }

// List lists jobs in the order in which Claim would claim them.
func (b *Board) List(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	return b.store.JobList(ctx, q)
}
