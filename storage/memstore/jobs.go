package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// PostJob adds a job.
func (m *Store) PostJob(ctx context.Context, job storage.Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if !m.post(&job) {
		return fmt.Errorf("%w: job %q", storage.ErrExists, job.ID)
	}
	m.notify()
	return nil
}

// post adds a job, unless the id is taken.
func (m *memory) post(job *storage.Job) bool {
	if m.jobs[job.ID] != nil {
		return false
	}
	m.posted++
	j := &jobRecord{Job: rules.Posted(job, time.Now()), n: m.posted}
	m.jobs[job.ID] = j
	m.pin(j)
	return true
}

// A memoryJob is a job and its place among all.
type jobRecord struct {
	storage.Job

	n int64
}

// inClaimOrder compares by priority and then age.
func inClaimOrder(a, b *jobRecord) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.n, b.n))
}

// pin puts a job on the board, which holds those that have not ended, in the
// order of claiming.
func (m *memory) pin(j *jobRecord) {
	if at, there := slices.BinarySearchFunc(m.board, j, inClaimOrder); !there && !j.State.Ended() {
		m.board = slices.Insert(m.board, at, j)
	}
}

// unpin takes a job off the board once it has ended.
func (m *memory) unpin(j *jobRecord) {
	if at, there := slices.BinarySearchFunc(m.board, j, inClaimOrder); there && j.State.Ended() {
		m.board = slices.Delete(m.board, at, at+1)
	}
}

// free reports whether the job may be claimed at that time.
func free(j *storage.Job, now time.Time) bool {
	switch j.State {
	case states.JobUnclaimed:
		return true
	case states.JobScheduled:
		return !j.NotUntil.After(now)
	case states.JobClaimed:
		return j.ClaimID != "" && j.Lease.Before(now)
	default:
		return false
	}
}

// ClaimJobs claims jobs.
func (m *Store) ClaimJobs(ctx context.Context, q storage.JobClaim) ([]storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	meter := m.meter(now)
	var out []storage.Job
	for _, j := range m.board {
		if !free(&j.Job, now) || !rules.TakesJob(&q, &j.Job) {
			continue
		}
		by, may := meter.Admit(&j.Job)
		if !may {
			continue
		}
		m.spent(now, by)
		j.State, j.Owner, j.ClaimID = states.JobClaimed, m.owner.ID, uuid.NewString()
		j.Epoch++
		j.Attempts++
		j.Lease = now.Add(q.Lease)
		out = append(out, rules.CopyJob(&j.Job))
		if len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

func (m *memory) job(id string) (*jobRecord, error) {
	j := m.jobs[id]
	if j == nil {
		return nil, fmt.Errorf("%w: job %q", storage.ErrNotFound, id)
	}
	return j, nil
}

// RenewJob prolongs a claim.
func (m *Store) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	j, err := m.job(id)
	if err != nil {
		return err
	}
	if j.State != states.JobClaimed || j.Epoch != epoch || j.ClaimID != claim || claim == "" {
		return fmt.Errorf("%w: job %q", storage.ErrFenced, id)
	}
	j.Lease = time.Now().Add(lease)
	return nil
}

// EndJob ends a claim.
func (m *Store) EndJob(ctx context.Context, end storage.JobEnd) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	j, err := m.jobToEnd("", &end)
	if err != nil {
		return err
	}
	m.endJob(j, &end)
	return nil
}

// jobToEnd returns the job that an end is to be written to: nil, without an
// error, when it says nothing new. In a checkpoint, run is the id of its run.
func (m *memory) jobToEnd(run string, end *storage.JobEnd) (*jobRecord, error) {
	j, err := m.job(end.Job)
	if err != nil {
		return nil, err
	}
	ends, err := rules.Ends(end, &j.Job, run)
	if !ends {
		j = nil
	}
	return j, err
}

// endJob writes an end that may be written.
func (m *memory) endJob(j *jobRecord, end *storage.JobEnd) {
	j.State, j.NotUntil, j.Failure = end.State, end.NotUntil, rules.CopyFailure(end.Failure)
	j.Owner, j.ClaimID, j.Lease = "", "", time.Time{}
	if end.ClaimID == "" {
		j.Attempts = 0
	}
	if end.State.Ended() {
		j.Ended = time.Now()
	}
	m.unpin(j)
	m.notify()
}

// bindJob assigns to a new run the job that asked for it.
func (m *memory) bindJob(run *storage.Run) error {
	if run.Job == "" {
		return nil
	}
	j, err := m.job(run.Job)
	if err != nil {
		return err
	}
	if err := rules.Wanted(&j.Job, run.ID); err != nil {
		return err
	}
	j.State, j.Owner, j.ClaimID, j.Lease, j.Attempts = states.JobClaimed, "", "", time.Time{}, 0
	return nil
}

// Job returns one job.
func (m *Store) Job(ctx context.Context, id string) (storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Job{}, err
	}
	defer m.mu.Unlock()
	j, err := m.job(id)
	if err != nil {
		return storage.Job{}, err
	}
	return rules.CopyJob(&j.Job), nil
}

// JobList lists jobs.
func (m *Store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []storage.Job
	for _, j := range slices.SortedFunc(maps.Values(m.jobs), inClaimOrder) {
		if len(q.States) == 0 || slices.Contains(q.States, j.State) {
			out = append(out, rules.CopyJob(&j.Job))
			if len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}

// JobCounts counts jobs.
func (m *Store) JobCounts(ctx context.Context) ([]storage.JobCount, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	counts := map[states.Job]storage.JobCount{}
	for _, j := range m.board {
		c := counts[j.State]
		since := j.Created
		if j.NotUntil.After(since) {
			since = j.NotUntil
		}
		if c.Jobs == 0 || since.Before(c.Since) {
			c.Since = since
		}
		c.State = j.State
		c.Jobs++
		counts[j.State] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b storage.JobCount) int { return cmp.Compare(a.State, b.State) }), nil
}

// PurgeJobs deletes jobs that have ended.
func (m *Store) PurgeJobs(ctx context.Context, q storage.JobPurge) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	var old []*jobRecord
	for _, j := range m.jobs {
		run := m.runs[j.Run]
		switch {
		case !j.State.Ended(), !j.Ended.Before(q.Before), run != nil && run.head.Job == j.ID:
		case q.Flow != "" && q.Flow != j.Flow, slices.Contains(q.Except, j.Flow):
		default:
			old = append(old, j)
		}
	}
	slices.SortFunc(old, func(a, b *jobRecord) int { return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.n, b.n)) })
	if q.Limit > 0 && len(old) > q.Limit {
		old = old[:q.Limit]
	}
	for _, j := range old {
		delete(m.jobs, j.ID)
	}
	return len(old), nil
}
