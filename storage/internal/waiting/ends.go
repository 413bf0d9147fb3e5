package waiting

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// AwaitEnd implements [backend.Waiting.AwaitEnd]; read returns the run.
func (h *Hub) AwaitEnd(ctx context.Context, run string,
	read func(context.Context, string) (storage.Run, error),
) (storage.Run, error) {
	if row, err := read(ctx, run); err != nil || hasEnded(&row) {
		return row, err
	}
	again := make(chan struct{}, 1)
	if !h.enterEnd(run, again) { //nolint:contextcheck // the watch outlives this caller
		return storage.Run{}, storage.ErrClosed
	}
	defer h.leaveEnd(run, again)
	for {
		row, err := read(ctx, run)
		if err != nil || hasEnded(&row) {
			return row, err
		}
		select {
		case <-again:
		case <-ctx.Done():
			return storage.Run{}, ctx.Err()
		}
		if h.isClosed() {
			return storage.Run{}, storage.ErrClosed
		}
	}
}

func (h *Hub) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

func (h *Hub) enterEnd(run string, again chan struct{}) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.enter() {
		return false
	}
	if h.ends[run] == nil {
		h.ends[run] = map[chan struct{}]bool{}
	}
	h.ends[run][again] = true
	return true
}

func (h *Hub) leaveEnd(run string, again chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ends[run], again)
	if len(h.ends[run]) == 0 {
		delete(h.ends, run)
	}
	h.leave()
}

// ended wakes the callers that wait for the end of a run. The caller must hold the lock.
func (h *Hub) ended(run string) {
	for again := range h.ends[run] {
		select {
		case again <- struct{}{}:
		default:
		}
	}
}

// endedExcept wakes the callers that wait for runs which are not running any more.
func (h *Hub) endedExcept(runs, running []string) {
	goesOn := make(map[string]bool, len(running))
	for _, run := range running {
		goesOn[run] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, run := range runs {
		if !goesOn[run] {
			h.ended(run)
		}
	}
}
