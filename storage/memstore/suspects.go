package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// die closes the store as the death of its process would. The death counts against the runs that its owner drove.
func (m *store) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	death := mourning{by: m.owner.Process(), at: time.Now()}
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			death.runs++
			death.onTrial += int(r.head.Suspicion.Trial & storage.OnTrial)
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

// Deaths implements [storage.Suspects.Deaths].
func (m *store) Deaths() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deaths
}

// Try implements [storage.Suspects.Try].
func (m *store) Try(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return m.begin(ctx, run, true, storage.OnTrial)
}

// Acquit implements [storage.Suspects.Acquit].
func (m *store) Acquit(ctx context.Context, claim storage.Claim) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.owned(claim)
	if err != nil {
		return err
	}
	r.head.Suspicion.Trial, r.head.Suspicion.Proof = 0, 0
	return nil
}

// suspects loads the suspects that are due.
func (m *memory) suspects(q *storage.DueQuery) (due []storage.Due) {
	var found []*runRecord
	for _, r := range m.order {
		if r.head.Lost >= storage.SuspectLost && r.head.Owner == "" && !r.head.Due.IsZero() && !r.head.Due.After(q.By) &&
			wants(q, r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *runRecord) int {
		s, o := &a.head.Suspicion, &b.head.Suspicion
		return cmp.Or(cmp.Compare(o.Proof, s.Proof), cmp.Compare(o.Trial, s.Trial), cmp.Compare(b.head.Lost, a.head.Lost),
			a.head.Due.Compare(b.head.Due), cmp.Compare(a.head.Number, b.head.Number))
	})
	if q.Limit > 0 {
		found = found[:min(len(found), q.Limit)]
	}
	for _, r := range found {
		due = append(due, m.dueAs(q, r))
	}
	return due
}

// wants reports whether a query selects the run, apart from when it is due.
func wants(q *storage.DueQuery, r *runRecord) bool {
	return (!r.head.Hold || slices.ContainsFunc(r.messages, func(l storage.Message) bool { return l.ReachesHeld() })) &&
		(len(q.Flows) == 0 || slices.Contains(q.Flows, r.head.Flow)) &&
		!slices.Contains(q.Except, r.head.ID) && rules.TakesRun(q, r.head.Labels)
}

// later loads a run that is due and creates its claim.
func (m *memory) later(r *runRecord) storage.Due {
	one := storage.Due{Run: r.head.ID}
	if one.Snapshot, one.Err = m.snapshot(r); one.Err == nil {
		one.Claim = rules.ClaimLater(&one.Snapshot.Run)
	}
	return one
}

// dueAs returns a run in the form that a query asks for.
func (m *memory) dueAs(q *storage.DueQuery, r *runRecord) storage.Due {
	if q.RunsOnly {
		return storage.Due{Run: r.head.ID, Snapshot: &storage.Snapshot{Run: r.record()}}
	}
	return m.later(r)
}
