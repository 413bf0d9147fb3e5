package storage

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Die closes the store like the death of its process: what the runs that it owned were
// doing is not known, and they count the death. Tests use it in place of kill -9.
func (m *MemoryStore) Die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	death := mourning{by: m.owner.Process(), at: time.Now()}
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			death.runs++
			death.onTrial += int(r.head.Suspicion.Trial & OnTrial)
		}
	}
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			death.blame(&r.head)
		}
		if death.onTrial == 0 {
			r.head.Suspicion.Proof = 0
		}
	}
	m.deaths++
	m.close()
}

// Deaths returns how many stores on these records have died.
func (m *MemoryStore) Deaths() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deaths
}

// Try takes the run over and puts it on trial.
func (m *MemoryStore) Try(ctx context.Context, run string) (Claim, *Snapshot, error) {
	return m.begin(ctx, run, true, OnTrial)
}

// Acquit ends the trial of a run.
func (m *MemoryStore) Acquit(ctx context.Context, claim Claim) error {
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
	}
	r.head.Suspicion.Trial, r.head.Suspicion.Proof = 0, 0
	return nil
}

// suspects loads the suspects that want to be driven.
func (m *memory) suspects(q *DueQuery) (due []Due) {
	var found []*memoryRun
	for _, r := range m.order {
		if r.head.Lost >= SuspectLost && r.head.Owner == "" && !r.head.Due.IsZero() && !r.head.Due.After(q.By) && q.wants(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *memoryRun) int {
		s, o := &a.head.Suspicion, &b.head.Suspicion
		return cmp.Or(cmp.Compare(o.Proof, s.Proof), cmp.Compare(o.Trial, s.Trial), cmp.Compare(b.head.Lost, a.head.Lost),
			a.head.Due.Compare(b.head.Due), cmp.Compare(a.n, b.n))
	})
	if q.Limit > 0 {
		found = found[:min(len(found), q.Limit)]
	}
	for _, r := range found {
		due = append(due, m.dueAs(q, r))
	}
	return due
}

// wants reports whether a query is for a run of its kind, whenever that is due.
func (q *DueQuery) wants(r *memoryRun) bool {
	return !r.head.Hold && (q.Flow == "" || r.head.Flow == q.Flow) && !slices.Contains(q.Except, r.head.ID) && q.Takes(r.head.Labels)
}

// later loads a run that is due, and hands out a claim.
func (m *memory) later(r *memoryRun) Due {
	one := Due{Run: r.head.ID}
	if one.Snapshot, one.Err = m.snapshot(r); one.Err == nil {
		one.Claim = ClaimLater(&one.Snapshot.Run)
	}
	return one
}

// dueAs returns a run as a query wants it.
func (m *memory) dueAs(q *DueQuery, r *memoryRun) Due {
	if q.RunsOnly {
		return Due{Run: r.head.ID, Snapshot: &Snapshot{Run: r.record()}}
	}
	return m.later(r)
}
