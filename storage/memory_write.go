package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Create makes a run.
func (m *MemoryStore) Create(ctx context.Context, run Run) error {
	if err := run.Check(); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if m.runs[run.ID] != nil {
		return fmt.Errorf("%w: run %q", ErrExists, run.ID)
	}
	if err := m.bindJob(&run); err != nil {
		return err
	}
	m.create(run)
	return nil
}

// commitNew writes the checkpoint that a run is made with.
func (m *MemoryStore) commitNew(claim Claim, cp *Checkpoint) (err error) {
	run := *claim.New
	if err := cp.Continues(&run); err != nil {
		return err
	}
	if j := m.jobs[run.Job]; j != nil {
		before := j.Job
		defer func() {
			if err != nil && !errors.Is(err, ErrLimited) {
				j.Job = before
			}
		}()
	}
	if err := m.bindJob(&run); err != nil {
		return err
	}
	if err := m.writable(run.ID, cp); err != nil {
		return err
	}
	if full := m.full(&run); full != nil && !cp.Head.Release {
		m.create(run)
		return full
	}
	m.begun(m.create(run), claim, cp)
	return nil
}

// begun writes the checkpoint that a claim begins with.
func (m *MemoryStore) begun(r *memoryRun, claim Claim, cp *Checkpoint) {
	r.head.Fence, r.head.ClaimID, r.head.Owner, r.head.Due = claim.Fence, claim.ID, m.owner.ID, time.Time{}
	m.apply(r, cp)
}

// take takes over a run without an owner.
func (m *MemoryStore) take(r *memoryRun, trial Trial) (Claim, *Snapshot, error) {
	before := r.head
	r.head.Fence++
	r.head.ClaimID, r.head.Owner, r.head.Due = uuid.NewString(), m.owner.ID, time.Time{}
	r.head.Suspicion.Trial |= trial
	s, err := m.snapshot(r)
	if err != nil {
		r.head = before
		return Claim{}, nil, err
	}
	return Claim{Run: r.head.ID, Fence: r.head.Fence, ID: r.head.ClaimID}, s, nil
}

// find returns the run of that id.
func (m *memory) find(id string) (*memoryRun, error) {
	r := m.runs[id]
	if r == nil {
		return nil, fmt.Errorf("%w: run %q", ErrNotFound, id)
	}
	return r, nil
}

// unowned returns the run of that id, if it has no owner.
func (m *memory) unowned(id string) (*memoryRun, error) {
	r, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if r.head.Owner != "" {
		return nil, &OwnedError{Run: id, Owner: m.ownerOf(r.head.Owner)}
	}
	return r, nil
}

// Begin takes the run over and loads it.
func (m *MemoryStore) Begin(ctx context.Context, run string) (Claim, *Snapshot, error) {
	return m.begin(ctx, run, true, 0)
}

// Seize takes the run over whatever the limits, and loads it.
func (m *MemoryStore) Seize(ctx context.Context, run string) (Claim, *Snapshot, error) {
	return m.begin(ctx, run, false, 0)
}

func (m *MemoryStore) begin(ctx context.Context, run string, limited bool, trial Trial) (Claim, *Snapshot, error) {
	if err := m.enter(ctx); err != nil {
		return Claim{}, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.unowned(run)
	if err != nil {
		return Claim{}, nil, err
	}
	if full := m.full(&r.head); limited && full != nil {
		return Claim{}, nil, full
	}
	return m.take(r, trial)
}

// Commit writes a checkpoint.
func (m *MemoryStore) Commit(ctx context.Context, claim Claim, cp *Checkpoint) error {
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
	if done, err := cp.Guard(&r.head, claim); done || err != nil {
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

// Release gives up the run.
func (m *MemoryStore) Release(ctx context.Context, claim Claim, wakeups int64, due time.Time) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.find(claim.Run)
	switch {
	case err != nil:
		return err
	case !r.isOwnedBy(claim):
		return ErrFenced
	case r.head.Wakeups != wakeups:
		return ErrNewMessages
	}
	r.head.Owner, r.head.Due = "", due
	r.head.Suspicion.Trial &^= OnTrial
	m.wants(r)
	m.notify()
	return nil
}

// Step takes a run without an owner through one event. The store is locked
// while step runs.
func (m *MemoryStore) Step(ctx context.Context, run string, step func(*Snapshot) (*Checkpoint, error)) error {
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
		if !done { // an error, or a panic of the caller's
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

func (m *memory) step(r *memoryRun, step func(*Snapshot) (*Checkpoint, error)) error {
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
	if err := cp.Continues(&r.head); err != nil {
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

// Purge deletes ended runs.
func (m *MemoryStore) Purge(ctx context.Context, runs ...string) (int, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	purged := map[*memoryRun]bool{}
	for _, id := range runs {
		r := m.runs[id]
		if r == nil || !r.head.State.Ended() || r.head.Owner != "" {
			continue
		}
		for _, token := range r.tokens {
			delete(m.tokens, token)
		}
		delete(m.runs, id)
		m.evict(&r.head)
		purged[r] = true
	}
	m.order = slices.DeleteFunc(m.order, func(r *memoryRun) bool { return purged[r] })
	return len(purged), nil
}

// PutDefinition stores a definition unless it is there.
func (m *MemoryStore) PutDefinition(ctx context.Context, def Definition) (Definition, error) {
	if err := m.enter(ctx); err != nil {
		return Definition{}, err
	}
	defer m.mu.Unlock()
	if there, known := m.defs[def.Hash]; known {
		there.Text = slices.Clone(there.Text)
		return there, nil
	}
	m.latest[def.Name]++
	def.Version = m.latest[def.Name]
	if def.Created.IsZero() {
		def.Created = time.Now()
	}
	kept := def
	kept.Text = slices.Clone(def.Text)
	m.defs[def.Hash] = kept
	return def, nil
}

// Definition returns the definition of that hash.
func (m *MemoryStore) Definition(ctx context.Context, hash string) (Definition, error) {
	if err := m.enter(ctx); err != nil {
		return Definition{}, err
	}
	defer m.mu.Unlock()
	def, known := m.defs[hash]
	if !known {
		return Definition{}, fmt.Errorf("%w: definition %q", ErrNotFound, hash)
	}
	def.Text = slices.Clone(def.Text)
	return def, nil
}

// Definitions lists the definitions of that name.
func (m *MemoryStore) Definitions(ctx context.Context, name string) ([]Definition, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []Definition
	for _, def := range m.defs {
		if name == "" || def.Name == name {
			def.Text = nil
			out = append(out, def)
		}
	}
	slices.SortFunc(out, func(a, b Definition) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.Version, a.Version))
	})
	return out, nil
}

// isOwnedBy reports whether a claim is that of the run's owner.
func (r *memoryRun) isOwnedBy(claim Claim) bool {
	return r.head.Fence == claim.Fence && r.head.ClaimID == claim.ID && r.head.Owner != ""
}
