package memstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Create implements [backend.Driver.Create].
func (m *store) Create(ctx context.Context, run storage.Run, checks ...storage.RecordCheck) error {
	if err := backend.CheckRun(&run, checks...); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.runs[run.ID] != nil {
		return fmt.Errorf("%w: run %q", storage.ErrExists, run.ID)
	}
	if err := m.records.unchanged(checks); err != nil {
		return err
	}
	if err := m.keyFree(run.Key, run.ID); err != nil {
		return err
	}
	if err := m.bindJob(&run); err != nil {
		return err
	}
	m.create(run)
	return nil
}

// commitNew writes the first checkpoint of a claim of ClaimNew, which creates the run.
func (m *store) commitNew(claim backend.Claim, cp *backend.Checkpoint) (err error) {
	run := *claim.New
	if err := rules.Continues(cp, &run); err != nil {
		return err
	}
	if err := m.records.unchanged(claim.Checks); err != nil {
		return err
	}
	if err := m.keyFree(run.Key, run.ID); err != nil {
		return err
	}
	if j := m.jobs[run.Job]; j != nil {
		before := *j
		defer func() {
			if err != nil && !errors.Is(err, storage.ErrLimited) {
				*j = before
			}
		}()
	}
	if err := m.bindJob(&run); err != nil {
		return err
	}
	if err := m.writable(run.ID, cp); err != nil {
		return err
	}
	for i := range cp.Children {
		if key := cp.Children[i].Key; key != "" && key == run.Key && !cp.Head.State.Ended() {
			return &storage.KeyTakenError{Key: key, Run: run.ID}
		}
	}
	if full := m.full(&run); full != nil && !cp.Head.Release {
		m.create(run)
		return full
	}
	m.begun(m.create(run), claim, cp)
	return nil
}

// begun writes the first checkpoint of a claim.
func (m *store) begun(r *runRecord, claim backend.Claim, cp *backend.Checkpoint) {
	r.head.Fence, r.head.ClaimID, r.head.Owner, r.head.Due = claim.Fence, claim.ID, m.owner.ID, time.Time{}
	m.apply(r, cp)
}

// take takes over a run without an owner.
func (m *store) take(r *runRecord, isolation storage.Isolation) (backend.Claim, *backend.Snapshot, error) {
	before := r.head
	r.head.Fence++
	r.head.ClaimID, r.head.Owner, r.head.Due = uuid.NewString(), m.owner.ID, time.Time{}
	r.head.CrashLoop.Isolation |= isolation
	s, err := m.snapshot(r)
	if err != nil {
		r.head = before
		return backend.Claim{}, nil, err
	}
	return backend.Claim{Run: r.head.ID, Fence: r.head.Fence, ID: r.head.ClaimID}, s, nil
}

// find returns the run with that id.
func (m *memory) find(id string) (*runRecord, error) {
	r := m.runs[id]
	if r == nil {
		return nil, fmt.Errorf("%w: run %q", storage.ErrNotFound, id)
	}
	return r, nil
}

// unowned returns the run with that id if it has no owner.
func (m *memory) unowned(id string) (*runRecord, error) {
	r, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if r.head.Owner != "" {
		return nil, &storage.OwnedError{Run: id, Owner: m.ownerOf(r.head.Owner)}
	}
	return r, nil
}

// Begin implements [backend.Driver.Begin].
func (m *store) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return m.begin(ctx, run, true, 0)
}

// Seize implements [backend.Limiter.Seize].
func (m *store) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return m.begin(ctx, run, false, 0)
}

func (m *store) begin(ctx context.Context, run string, limited bool,
	isolation storage.Isolation,
) (backend.Claim, *backend.Snapshot, error) {
	if err := m.enter(ctx); err != nil {
		return backend.Claim{}, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.unowned(run)
	if err != nil {
		return backend.Claim{}, nil, err
	}
	if full := m.full(&r.head); limited && full != nil {
		return backend.Claim{}, nil, full
	}
	return m.take(r, isolation)
}

// Load implements [backend.Driver.Load].
func (m *store) Load(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	if err := m.enter(ctx); err != nil {
		return backend.Claim{}, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.unowned(run)
	if err != nil {
		return backend.Claim{}, nil, err
	}
	snap, err := m.snapshot(r)
	if err != nil {
		return backend.Claim{}, nil, err
	}
	return rules.ClaimLater(&snap.Run), snap, nil
}

// Commit implements [backend.Driver.Commit].
func (m *store) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if err := cp.Check(); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if claim.Makes(cp) && m.runs[claim.Run] == nil {
		return m.commitNew(claim, cp)
	}
	r, err := m.find(claim.Run)
	if err != nil {
		return err
	}
	if done, err := rules.Guard(cp, &r.head, claim); done || err != nil {
		return err
	}
	if err := m.writable(r.head.ID, cp); err != nil {
		return err
	}
	if claim.BeginsWith(cp) {
		if full := m.full(&r.head); full != nil && !cp.Head.Release {
			return full
		}
		m.begun(r, claim, cp)
		return nil
	}
	m.apply(r, cp)
	return nil
}

// Release implements [backend.Driver.Release].
func (m *store) Release(ctx context.Context, claim backend.Claim, wakeups int64, due time.Time) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.owned(claim)
	switch {
	case err != nil:
		return err
	case r.head.Wakeups != wakeups:
		return storage.ErrNewMessages
	}
	r.head.Owner, r.head.Due = "", due
	r.head.CrashLoop.Isolation &^= storage.Isolated
	m.wants(r)
	m.notify()
	return nil
}

// Step implements [backend.Driver.Step]. The store is locked while step runs.
func (m *store) Step(ctx context.Context, run string, step func(*backend.Snapshot) (*backend.Checkpoint, error)) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.unowned(run)
	if err != nil {
		return err
	}
	before, done := r.head, false
	defer func() {
		if !done { // step returned an error or panicked
			r.head = before
		}
	}()
	r.head.Fence++
	r.head.ClaimID = uuid.NewString()
	if err := m.step(r, step); err != nil {
		return err
	}
	done = true
	return nil
}

func (m *memory) step(r *runRecord, step func(*backend.Snapshot) (*backend.Checkpoint, error)) error {
	s, err := m.snapshot(r)
	if err != nil {
		return err
	}
	cp, err := step(s)
	if cp == nil || err != nil {
		return err
	}
	if err := cp.Check(); err != nil {
		return err
	}
	if err := rules.Continues(cp, &r.head); err != nil {
		return err
	}
	if err := m.writable(r.head.ID, cp); err != nil {
		return err
	}
	m.apply(r, cp)
	r.head.Due = cp.Head.Due
	m.wants(r)
	m.notify()
	return nil
}

// Purge implements [backend.Store.Purge].
func (m *store) Purge(ctx context.Context, runs ...string) (int, error) {
	return m.purge(ctx, runs, false)
}

// Discard implements [backend.Store.Discard].
func (m *store) Discard(ctx context.Context, runs ...string) (int, error) {
	return m.purge(ctx, runs, true)
}

// purge deletes runs: in any state, or only those that Purge deletes.
func (m *store) purge(ctx context.Context, runs []string, inAnyState bool) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	purged := map[*runRecord]bool{}
	for _, id := range runs {
		r := m.runs[id]
		if r == nil || !inAnyState && (!r.head.State.Ended() || r.head.Owner != "" || r.owes()) {
			continue
		}
		for _, token := range r.tokens {
			if t := m.tokens[token]; t != nil && m.queues[t.Queue] != nil {
				m.queues[t.Queue] = slices.DeleteFunc(m.queues[t.Queue], func(id string) bool { return id == token })
			}
			delete(m.tokens, token)
		}
		if inAnyState {
			m.discard(r)
		}
		delete(m.runs, id)
		m.evict(&r.head)
		purged[r] = true
	}
	m.order = slices.DeleteFunc(m.order, func(r *runRecord) bool { return purged[r] })
	m.audit.purge(purged)
	return len(purged), nil
}

// discard deletes what only a run that has not ended has: its key, and its jobs.
func (m *memory) discard(r *runRecord) {
	m.releaseKey(r)
	maps.DeleteFunc(m.jobs, func(_ string, j *storage.Job) bool { return j.Run == r.head.ID })
	m.board = slices.DeleteFunc(m.board, func(j *storage.Job) bool { return j.Run == r.head.ID })
}

// owned returns the run of a claim, which must be the current one of the run's owner.
func (m *memory) owned(claim backend.Claim) (*runRecord, error) {
	r, err := m.find(claim.Run)
	switch {
	case err != nil:
		return nil, err
	case r.head.Fence != claim.Fence, r.head.ClaimID != claim.ID, r.head.Owner == "":
		return nil, storage.ErrFenced
	}
	return r, nil
}
