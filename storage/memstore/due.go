package memstore

import (
	"container/heap"
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
)

// dueHeap contains the runs that have a due time, nearest first. An entry may be outdated: the run's due time may
// have changed since.
type dueHeap []dueEntry

type dueEntry struct {
	at  time.Time
	run *runRecord
}

func (h *dueHeap) Len() int { return len(*h) }
func (h *dueHeap) Less(i, j int) bool {
	a, b := &(*h)[i], &(*h)[j]
	if !a.at.Equal(b.at) {
		return a.at.Before(b.at)
	}
	return a.run.head.Number < b.run.head.Number
}
func (h *dueHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }
func (h *dueHeap) Push(x any) {
	if e, ok := x.(dueEntry); ok {
		*h = append(*h, e)
	}
}

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = dueEntry{}
	*h = (*h)[:last]
	return e
}

// wants adds an entry for a run that has a due time.
func (m *memory) wants(r *runRecord) {
	if due := r.head.Due; r.head.Owner == "" && !due.IsZero() && !due.Equal(r.queued) {
		r.queued = due
		heap.Push(&m.due, dueEntry{due, r})
	}
}

// nearest returns the run that is due next, or nil. It drops outdated entries.
func (m *memory) nearest() *runRecord {
	for len(m.due) > 0 {
		e := m.due[0]
		r := e.run
		if e.at.Equal(r.queued) && r.head.Owner == "" && r.head.Due.Equal(e.at) && m.runs[r.head.ID] == r {
			return r
		}
		heap.Pop(&m.due)
		if e.at.Equal(r.queued) {
			r.queued = time.Time{}
		}
	}
	return nil
}

// Due implements [backend.Driver.Due].
func (m *store) Due(ctx context.Context, q backend.DueQuery) (due []backend.Due, next time.Time, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, time.Time{}, err
	}
	defer m.mu.Unlock()
	if q.CrashLoops {
		return m.crashLoops(&q), time.Time{}, nil
	}
	limits := m.limiterState(q.Except)
	var seen []*runRecord
	defer func() {
		for _, r := range seen {
			m.wants(r)
		}
	}()
	for {
		r := m.nearest()
		if r == nil {
			return due, time.Time{}, nil
		}
		if r.head.Due.After(q.By) {
			return due, r.head.Due, nil
		}
		heap.Pop(&m.due)
		r.queued = time.Time{}
		seen = append(seen, r)
		if r.head.Lost >= backend.CrashLoopDeaths || !wants(&q, r) || limits.Available(r.bucket()) == 0 {
			continue
		}
		if len(due) == q.Limit && q.Limit > 0 {
			return due, r.head.Due, nil
		}
		one := m.dueAs(&q, r)
		if q.Take && len(m.limits) == 0 {
			one = backend.Due{Run: r.head.ID}
			one.Claim, one.Snapshot, one.Err = m.take(r, 0)
		}
		due = append(due, one)
		limits.Take(r.bucket(), 1)
	}
}
