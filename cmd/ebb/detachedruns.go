package main

import (
	"context"
	"errors"
	"sync"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// A detachedRuns drives the runs that a session's run has started and does not wait for,
// and the runs that those have started. It drives each until the run rests. How they end
// does not affect the session's run.
type detachedRuns struct {
	session *session
	eng     *engine.Engine
	running sync.WaitGroup

	mu   sync.Mutex
	with map[string]bool // those that it drives now, or that have come to rest
}

// joinAll drives those that were begun already: by another process perhaps, or they
// were waited for and are no more.
func (e *detachedRuns) joinAll(ctx context.Context, run string) {
	open, err := e.eng.Detached(ctx, run)
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // the run may still be to begin
		e.session.noticef("%v", err)
	}
	for _, id := range open {
		e.join(ctx, id)
	}
}

// join drives a run, unless it does or did already, and says so when it did not end
// well.
func (e *detachedRuns) join(ctx context.Context, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.with[id] {
		return
	}
	if e.with == nil {
		e.with = map[string]bool{}
	}
	e.with[id] = true
	e.running.Go(func() {
		res, err := e.eng.Run(ctx, id)
		_, owned := errors.AsType[*storage.OwnedError](err)
		switch {
		case owned || errors.Is(err, engine.ErrStopped): // another process drives the run, or will
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.with, id)
		case res != nil && err != nil:
			e.session.noticef("run %s, which was not waited for, is %s", id, res.Run.State)
		case err != nil:
			e.session.noticef("run %s, which was not waited for: %v", id, err)
		}
	})
}
