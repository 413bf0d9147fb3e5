package drive

import (
	"context"
	"errors"
	"sync"

	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// A detachedRuns drives the runs that a session's run has started and does not wait for,
// and the runs that those have started. It drives each until the run rests. How they end
// does not affect the session's run.
type detachedRuns struct {
	session *session.Session
	eng     *engine.Engine
	running sync.WaitGroup

	mu   sync.Mutex
	with map[string]bool // runs that it drives, or that have come to rest
}

// joinAll drives runs that were already started: by another process, or before this run stopped waiting for them.
func (e *detachedRuns) joinAll(ctx context.Context, run string) {
	for id, err := range e.eng.Detached(ctx, run) {
		switch {
		case err == nil:
			e.join(ctx, id)
		case !errors.Is(err, storage.ErrNotFound): // the run may not have started
			e.session.Noticef("%v", err)
		}
	}
}

// join drives a run, unless it does or did so already, and tells the user if the run did not succeed.
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
		res, err := e.eng.Run(ctx, id, engine.Existing())
		_, owned := errors.AsType[*storage.OwnedError](err)
		switch {
		case owned || errors.Is(err, engine.ErrStopped): // another process drives the run, or will
			e.mu.Lock()
			defer e.mu.Unlock()
			delete(e.with, id)
		case res != nil && err != nil:
			e.session.Noticef("run %s, which was not waited for, is %s", id, res.Run.State)
		case err != nil:
			e.session.Noticef("run %s, which was not waited for: %v", id, err)
		}
	})
}
