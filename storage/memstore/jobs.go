package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// PostJob implements [backend.Jobs.PostJob].
func (m *store) PostJob(ctx context.Context, list ...storage.Job) error {
	for i := range list {
		if err := backend.CheckJob(&list[i]); err != nil {
			return err
		}
	}
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	var taken error
	before := m.posted
	for i := range list {
		job := &list[i]
		have, sole := m.jobs[job.ID], m.sole(job.Unique)
		switch {
		case have != nil:
			if err := rules.SameJob(have, job); err != nil {
				m.unpost(before)
				return err
			}
		case sole != nil:
			job.ID, job.Run = sole.ID, sole.Run
		default:
			m.post(job)
			continue
		}
		taken = fmt.Errorf("%w: job %q", storage.ErrExists, job.ID)
	}
	if m.posted > before {
		m.changed(ctx)
	}
	m.notify()
	return taken
}

// post adds a job, unless the id is taken.
func (m *memory) post(job *storage.Job) {
	if m.jobs[job.ID] != nil {
		return
	}
	m.posted++
	j := rules.Posted(job, time.Now())
	j.Number = m.posted
	m.jobs[job.ID] = &j
	m.pin(&j)
}

// unpost removes the jobs that were posted after the given number.
func (m *memory) unpost(after int64) {
	late := func(j *storage.Job) bool { return j.Number > after }
	m.board = slices.DeleteFunc(m.board, late)
	maps.DeleteFunc(m.jobs, func(_ string, j *storage.Job) bool { return late(j) })
	m.posted = after
}

// sole returns the open job with a Unique; nil if there is none.
func (m *memory) sole(unique string) *storage.Job {
	at := slices.IndexFunc(m.board, func(j *storage.Job) bool { return unique != "" && j.Unique == unique })
	if at < 0 {
		return nil
	}
	return m.board[at]
}

// inClaimOrder compares by priority, then by age.
func inClaimOrder(a, b *storage.Job) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Number, b.Number))
}

// pin adds a job to the board. The board contains the jobs that have not ended, in the order of claiming.
func (m *memory) pin(j *storage.Job) {
	if at, there := slices.BinarySearchFunc(m.board, j, inClaimOrder); !there && !j.State.Ended() {
		m.board = slices.Insert(m.board, at, j)
	}
}

// unpin removes a job that has ended from the board.
func (m *memory) unpin(j *storage.Job) {
	if at, there := slices.BinarySearchFunc(m.board, j, inClaimOrder); there && j.State.Ended() {
		m.board = slices.Delete(m.board, at, at+1)
	}
}

// free reports whether the job can be claimed at the given time.
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

// ClaimJobs implements [backend.Jobs.ClaimJobs].
func (m *store) ClaimJobs(ctx context.Context, q backend.JobClaim) ([]storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	meter := m.meter(now)
	var out []storage.Job
	for _, j := range m.board {
		if !free(j, now) || !rules.OffersFor(&q, j) || !rules.TakesFlow(&q, j.Flow, m.defs.languages[j.Flow]) {
			continue
		}
		by, may := meter.Admit(j)
		if !may {
			continue
		}
		m.spent(now, by)
		j.State, j.Owner, j.ClaimID = states.JobClaimed, m.owner.ID, uuid.NewString()
		j.Epoch++
		j.Attempts++
		j.Lease = now.Add(q.Lease)
		out = append(out, rules.CopyJob(j))
		if len(out) >= q.Limit {
			break
		}
	}
	return out, nil
}

func (m *memory) job(id string) (*storage.Job, error) {
	j := m.jobs[id]
	if j == nil {
		return nil, fmt.Errorf("%w: job %q", storage.ErrNotFound, id)
	}
	return j, nil
}

// EndJob implements [backend.Jobs.EndJob].
func (m *store) EndJob(ctx context.Context, end backend.JobEnd) error {
	if err := m.enterChange(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	j, err := m.jobToEnd("", &end)
	if err != nil {
		return err
	}
	m.endJob(j, &end)
	m.changed(ctx)
	return nil
}

// jobToEnd returns the job that a JobEnd changes; nil without an error if the JobEnd changes nothing. In a
// checkpoint, run is the id of its run.
func (m *memory) jobToEnd(run string, end *backend.JobEnd) (*storage.Job, error) {
	j, err := m.job(end.Job)
	if err != nil {
		return nil, err
	}
	ends, err := rules.Ends(end, j, run)
	if !ends {
		j = nil
	}
	return j, err
}

// endJob applies a JobEnd that jobToEnd has allowed.
func (m *memory) endJob(j *storage.Job, end *backend.JobEnd) {
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

// bindJob binds the job that asked for a new run to that run.
func (m *memory) bindJob(run *storage.Run) error {
	if run.Job == "" {
		return nil
	}
	j, err := m.job(run.Job)
	if err != nil {
		return err
	}
	if err := rules.Wanted(j, run.ID); err != nil {
		return err
	}
	j.State, j.Owner, j.ClaimID, j.Lease, j.Attempts = states.JobClaimed, "", "", time.Time{}, 0
	return nil
}

// Job implements [backend.Jobs.Job].
func (m *store) Job(ctx context.Context, id string) (storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Job{}, err
	}
	defer m.mu.Unlock()
	j, err := m.job(id)
	if err != nil {
		return storage.Job{}, err
	}
	return rules.CopyJob(j), nil
}

// JobList implements [backend.Jobs.JobList].
func (m *store) JobList(ctx context.Context, q storage.JobQuery) ([]storage.Job, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	inOrder := func(a, b *storage.Job) int { return cmp.Compare(a.Number, b.Number) }
	if backend.OnlyOpenJobs(&q) {
		inOrder = inClaimOrder
	}
	var out []storage.Job
	space := codec.NewSpace(q.Limit)
	for _, j := range slices.SortedFunc(maps.Values(m.jobs), inOrder) {
		if (len(q.States) == 0 || slices.Contains(q.States, j.State)) && (q.After == nil || inOrder(q.After, j) < 0) {
			out = append(out, rules.CopyJob(j))
			if space.Take(codec.SizeOfJob(j)); space.Full() {
				break
			}
		}
	}
	return out, nil
}

// JobCounts implements [backend.Jobs.JobCounts].
func (m *store) JobCounts(ctx context.Context) ([]backend.JobCount, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	counts := map[states.Job]backend.JobCount{}
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
	return slices.SortedFunc(maps.Values(counts),
		func(a, b backend.JobCount) int { return cmp.Compare(a.State, b.State) }), nil
}

// PurgeJobs implements [backend.Jobs.PurgeJobs].
func (m *store) PurgeJobs(ctx context.Context, q backend.JobPurge) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	var old []*storage.Job
	for _, j := range m.jobs {
		run := m.runs[j.Run]
		switch {
		case !j.State.Ended(), !j.Ended.Before(q.Before), run != nil && run.head.Job == j.ID:
		case q.Flow != "" && q.Flow != j.Flow, slices.Contains(q.Except, j.Flow):
		default:
			old = append(old, j)
		}
	}
	slices.SortFunc(old,
		func(a, b *storage.Job) int { return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.Number, b.Number)) })
	if q.Limit > 0 && len(old) > q.Limit {
		old = old[:q.Limit]
	}
	for _, j := range old {
		delete(m.jobs, j.ID)
	}
	return len(old), nil
}
