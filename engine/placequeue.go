package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// placeLook is how often an engine checks whether a limit allows a run, even if the store reports no change.
const placeLook = 100 * time.Millisecond

// A placeQueue contains the runs of an engine that wait for a limit in [Engine.Run], in the order in which they
// arrived. Of the runs that wait for the same limit, only the first one asks the store.
type placeQueue struct {
	mu      sync.Mutex
	waiting []*storage.LimitedError // the limits for which the runs wait
}

// come adds a run to the end of the queue.
func (q *placeQueue) come(what *storage.LimitedError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, what)
}

// isFirst reports whether no earlier run waits for the same limit.
func (q *placeQueue) isFirst(w *storage.LimitedError) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting[slices.IndexFunc(q.waiting, func(o *storage.LimitedError) bool {
		return o.Limit == w.Limit &&
			o.Value == w.Value
	})] == w
}

// turn replaces the limit for which a run waits, and keeps the run's position in the queue.
func (q *placeQueue) turn(from, to *storage.LimitedError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[slices.Index(q.waiting, from)] = to
}

func (q *placeQueue) leave(w *storage.LimitedError) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	q.waiting = slices.Delete(q.waiting, i, i+1)
}

// placed takes a run over as soon as the limits allow it. err is the error of the first attempt.
func (e *Engine) placed(ctx context.Context, id string, opts []RunOption,
	err error,
) (*driver.Driver, *backend.Snapshot, error) {
	limit, ok := errors.AsType[*storage.LimitedError](err)
	if !ok {
		return nil, nil, err
	}
	e.places.come(limit)
	defer func() { e.places.leave(limit) }()
	e.tellWaiting(limit)
	t := time.NewTicker(placeLook)
	defer t.Stop()
	for {
		changed := e.env.Store.Changed()
		if e.places.isFirst(limit) {
			d, snap, err := e.begun(ctx, id, e.env.Store.Begin, opts)
			next, limited := errors.AsType[*storage.LimitedError](err)
			switch {
			case d == nil && ctx.Err() != nil:
				return nil, nil, ErrStopped
			case !limited:
				return d, snap, err
			}
			if next.Limit != limit.Limit || next.Value != limit.Value {
				e.tellWaiting(next)
			}
			e.places.turn(limit, next)
			limit = next
		}
		select {
		case <-t.C:
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ErrStopped
		}
	}
}

// tellWaiting tells observers which limit a run waits for.
func (e *Engine) tellWaiting(limit *storage.LimitedError) {
	e.env.Log.Info(logevent.RunQueued, "run", limit.Run, "limit", limit.Reason())
	e.env.Tell(driver.Event{Run: limit.Run, Kind: PlaceAwaited, Name: limit.Reason(), Time: e.env.Store.Now()})
}
