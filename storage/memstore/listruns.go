package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
)

// Runs implements [backend.Reader.Runs].
func (m *store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	found, err := m.Look(ctx, q, 0)
	return found.Runs, err
}

// Look implements [backend.Reader.Look]. It looks at all runs.
func (m *store) Look(ctx context.Context, q storage.RunQuery, _ int) (backend.LookResult, error) {
	return listed(ctx, m, &q, func(found []*runRecord) backend.LookResult {
		var out []storage.Run
		space := codec.NewSpace(q.Limit)
		for i := 0; i < len(found) && !space.Full(); i++ {
			run := found[i].record()
			if q.Brief {
				run.Input, run.Output = stored(run.Input), stored(run.Output)
			}
			out = append(out, run)
			space.Take(codec.SizeOfRun(&run))
		}
		return backend.LookResult{Runs: out, More: space.Full()}
	})
}

// Tally implements [backend.Reader.Tally]. It looks at all runs.
func (m *store) Tally(ctx context.Context, q storage.RunQuery, t backend.TallyQuery) (backend.Tally, error) {
	q.Limit = 0
	return listed(ctx, m, &q, func(found []*runRecord) backend.Tally {
		out := backend.Tally{Counts: map[backend.TallyKey]int{}}
		for _, r := range found {
			out.Counts[backend.TallyKey{State: r.head.State, Span: t.SpanOf(placeOf(&q, &r.head))}]++
		}
		return out
	})
}

// placeOf returns the time by which the query orders a run.
func placeOf(q *storage.RunQuery, r *storage.Run) time.Time {
	switch {
	case !q.Due.IsZero():
		return r.Due
	case q.Order == storage.ByEnded:
		return r.Ended
	default:
		return r.Created
	}
}

// CountRuns implements [backend.Reader.CountRuns].
func (m *store) CountRuns(ctx context.Context, q storage.RunQuery) (int, error) {
	return listed(ctx, m, &q, func(found []*runRecord) int { return len(found) })
}

// listed locks the store and returns the result of f for the runs that the query selects, in its order.
func listed[T any](ctx context.Context, m *store, q *storage.RunQuery, f func([]*runRecord) T) (none T, err error) {
	if err := backend.CheckRunQuery(q); err != nil {
		return none, err
	}
	if err := m.enter(ctx); err != nil {
		return none, err
	}
	defer m.mu.Unlock()
	inOrder := orderOf(q)
	var found []*runRecord
	for _, r := range m.order {
		if matches(q, &r.head) && (q.After == nil || inOrder(q.After, &r.head) < 0) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *runRecord) int { return inOrder(&a.head, &b.head) })
	if q.Limit > 0 {
		found = found[:min(q.Limit, len(found))]
	}
	return f(found), nil
}

// orderOf returns how the query compares the places of two runs.
func orderOf(q *storage.RunQuery) func(a, b *storage.Run) int {
	by, sign := func(r *storage.Run) time.Time { return placeOf(q, r) }, -1
	if !q.Due.IsZero() {
		sign = 1
	}
	if q.Reverse {
		sign = 1
	}
	return func(a, b *storage.Run) int {
		return sign * cmp.Or(cmp.Compare(by(a).UnixMicro(), by(b).UnixMicro()), cmp.Compare(a.Number, b.Number))
	}
}

func matches(q *storage.RunQuery, r *storage.Run) bool {
	for k, v := range q.Labels {
		if there, ok := r.Labels[k]; !ok || there != v {
			return false
		}
	}
	for i := range q.Terms {
		if !backend.TermHolds(&q.Terms[i], r) {
			return false
		}
	}
	return (q.Flow == "" || q.Flow == r.Flow) && (!q.Top || r.Parent == "") && (!q.Stuck || r.NeedsPerson()) &&
		(q.Parent == "" || q.Parent == r.Parent) &&
		(len(q.States) == 0 || slices.Contains(q.States, r.State)) &&
		(len(q.Undos) == 0 || slices.Contains(q.Undos, r.Undo)) &&
		(len(q.Outcomes) == 0 || slices.Contains(q.Outcomes, r.Outcome)) &&
		within(r.Created, q.CreatedFrom, q.CreatedTo) && within(r.Ended, q.EndedFrom, q.EndedTo) &&
		(q.Order != storage.ByEnded || !r.Ended.IsZero()) &&
		(q.Due.IsZero() || r.Owner == "" && !r.Due.IsZero() && !r.Due.After(q.Due))
}

// within reports whether the time is in the range. A zero time is only in the range without bounds.
func within(at, from, to time.Time) bool {
	switch {
	case from.IsZero() && to.IsZero():
		return true
	case at.IsZero():
		return false
	}
	return (from.IsZero() || at.UnixMicro() >= from.UnixMicro()) && (to.IsZero() || at.UnixMicro() < to.UnixMicro())
}
