package storage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/states"
)

// PostJob adds a job.
func (m *MemoryStore) PostJob(ctx context.Context, job Job) error {
	if err := job.Check(); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.jobs[job.ID] != nil {
		return fmt.Errorf("%w: job %q", ErrExists, job.ID)
	}
	job = copyJob(&job)
	job.Epoch, job.ClaimID, job.Owner, job.Lease, job.Attempts = 0, "", "", time.Time{}, 0
	if job.Created.IsZero() {
		job.Created = time.Now()
	}
	m.jobs[job.ID] = &job
	m.board = append(m.board, &job)
	m.rang()
	return nil
}

func copyJob(j *Job) Job {
	c := *j
	c.Labels = maps.Clone(j.Labels)
	c.Failure = copyFailure(j.Failure)
	return c
}

// free reports whether the job may be claimed at that time.
func (j *Job) free(now time.Time) bool {
	switch j.State {
	case states.JobUnclaimed, states.JobScheduled:
		return !j.NotUntil.After(now)
	case states.JobClaimed:
		return j.Lease.Before(now)
	default:
		return false
	}
}

// Takes reports whether the claim takes jobs of this flow and these labels. For
// those who write stores.
func (q *JobClaim) Takes(j *Job) bool {
	for k, v := range j.Labels {
		if offered, ok := q.Labels[k]; !ok || offered != v {
			return false
		}
	}
	return len(q.Flows) == 0 || slices.Contains(q.Flows, j.Flow)
}

// inClaimOrder returns the jobs by priority and then age.
func (m *memory) inClaimOrder() []*Job {
	list := slices.Clone(m.board)
	slices.SortStableFunc(list, func(a, b *Job) int { return cmp.Compare(b.Priority, a.Priority) })
	return list
}

// ClaimJobs claims jobs.
func (m *MemoryStore) ClaimJobs(ctx context.Context, q JobClaim) ([]Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	var out []Job
	for _, j := range m.inClaimOrder() {
		if !j.free(now) || !q.Takes(j) {
			continue
		}
		j.State, j.Owner, j.ClaimID = states.JobClaimed, m.owner.ID, uuid.NewString()
		j.Epoch++
		j.Attempts++
		j.Lease = now.Add(q.Lease)
		out = append(out, copyJob(j))
		if len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

// claimed returns ErrFenced unless the claim is the job's.
func (m *memory) claimed(id string, epoch int64, claim string) error {
	j := m.jobs[id]
	if j == nil {
		return fmt.Errorf("%w: job %q", ErrNotFound, id)
	}
	if j.State != states.JobClaimed || j.Epoch != epoch || j.ClaimID != claim {
		return fmt.Errorf("%w: job %q", ErrFenced, id)
	}
	return nil
}

// RenewJob prolongs a claim.
func (m *MemoryStore) RenewJob(ctx context.Context, id string, epoch int64, claim string, lease time.Duration) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := m.claimed(id, epoch, claim); err != nil {
		return err
	}
	m.jobs[id].Lease = time.Now().Add(lease)
	return nil
}

// EndJob ends a claim.
func (m *MemoryStore) EndJob(ctx context.Context, end JobEnd) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if err := m.claimed(end.Job, end.Epoch, end.ClaimID); err != nil {
		return err
	}
	m.endJob(m.jobs[end.Job], &end)
	return nil
}

func (m *memory) endJob(j *Job, end *JobEnd) {
	j.State, j.NotUntil, j.Failure = end.State, end.NotUntil, copyFailure(end.Failure)
	j.Owner, j.ClaimID, j.Lease = "", "", time.Time{}
	m.rang()
}

// Job returns one job.
func (m *MemoryStore) Job(ctx context.Context, id string) (Job, error) {
	if err := m.enter(ctx); err != nil {
		return Job{}, err
	}
	defer m.mu.Unlock()
	j := m.jobs[id]
	if j == nil {
		return Job{}, fmt.Errorf("%w: job %q", ErrNotFound, id)
	}
	return copyJob(j), nil
}

// JobList lists jobs.
func (m *MemoryStore) JobList(ctx context.Context, q JobQuery) ([]Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Job
	for _, j := range m.inClaimOrder() {
		if len(q.States) == 0 || slices.Contains(q.States, j.State) {
			out = append(out, copyJob(j))
			if len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}
