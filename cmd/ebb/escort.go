package main

import (
	"context"
	"errors"
	"sync"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// An escort drives the runs that a journey's run has begun and does not wait for, and
// those that these have begun, beside it and to where they rest. How they end changes
// nothing for it.
type escort struct {
	session *session
	eng     *engine.Engine
	running sync.WaitGroup

	mu   sync.Mutex
	seen map[string]bool
}

// joinAll drives those that were begun already, by another process perhaps.
func (e *escort) joinAll(ctx context.Context, run string) {
	open, err := e.eng.Detached(ctx, run)
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // the run may still be to begin
		e.session.noticef("%v", err)
	}
	for _, id := range open {
		e.join(ctx, id)
	}
}

// join drives a run, unless it has joined before, and says so when it did not end
// well.
func (e *escort) join(ctx context.Context, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen[id] {
		return
	}
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	e.seen[id] = true
	e.running.Go(func() {
		res, err := e.eng.Run(ctx, id)
		_, owned := errors.AsType[*storage.OwnedError](err)
		switch {
		case owned || errors.Is(err, engine.ErrStopped): // others drive it, or will
		case res != nil && err != nil:
			e.session.noticef("run %s, which was not waited for, is %s", id, res.Run.State)
		case err != nil:
			e.session.noticef("run %s, which was not waited for: %v", id, err)
		}
	})
}
