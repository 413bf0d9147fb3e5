package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
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
			death.isolated += int(r.head.CrashLoop.Isolation & storage.Isolated)
		}
	}
	for _, r := range m.order {
		if r.head.Owner == m.owner.ID {
			death.blame(&r.head)
		}
		if death.isolated == 0 {
			r.head.CrashLoop.Proof = 0
		}
	}
	m.deaths++
	m.close()
}

// Deaths implements [backend.CrashLoops.Deaths].
func (m *store) Deaths() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.deaths
}

// BeginIsolated implements [backend.CrashLoops.BeginIsolated].
func (m *store) BeginIsolated(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return m.begin(ctx, run, true, storage.Isolated)
}

// EndIsolation implements [backend.CrashLoops.EndIsolation].
func (m *store) EndIsolation(ctx context.Context, claim backend.Claim) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	r, err := m.owned(claim)
	if err != nil {
		return err
	}
	r.head.CrashLoop.Isolation, r.head.CrashLoop.Proof = 0, 0
	return nil
}

// crashLoops loads the due runs in a crash loop.
func (m *memory) crashLoops(q *backend.DueQuery) (due []backend.Due) {
	var found []*runRecord
	for _, r := range m.order {
		if r.head.Lost >= backend.CrashLoopDeaths && r.head.Owner == "" && !r.head.Due.IsZero() && !r.head.Due.After(q.By) &&
			wants(q, r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *runRecord) int {
		s, o := &a.head.CrashLoop, &b.head.CrashLoop
		return cmp.Or(cmp.Compare(o.Proof, s.Proof), cmp.Compare(o.Isolation, s.Isolation),
			cmp.Compare(b.head.Lost, a.head.Lost), a.head.Due.Compare(b.head.Due), cmp.Compare(a.head.Number, b.head.Number))
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
func wants(q *backend.DueQuery, r *runRecord) bool {
	return (!r.head.Hold || backend.ReachesHeld(r.messages...)) &&
		(len(q.Flows) == 0 || slices.Contains(q.Flows, r.head.Flow)) &&
		!slices.Contains(q.Except, r.head.ID) && rules.TakesRun(q, r.head.Labels)
}

// later loads a run that is due and creates its claim.
func (m *memory) later(r *runRecord) backend.Due {
	one := backend.Due{Run: r.head.ID}
	if one.Snapshot, one.Err = m.snapshot(r); one.Err == nil {
		one.Claim = rules.ClaimLater(&one.Snapshot.Run)
	}
	return one
}

// dueAs returns a run in the form that a query asks for.
func (m *memory) dueAs(q *backend.DueQuery, r *runRecord) backend.Due {
	if q.RunsOnly {
		return backend.Due{Run: r.head.ID, Snapshot: &backend.Snapshot{Run: r.record()}}
	}
	return m.later(r)
}
