package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Start starts a run and returns when the run's first commit is durable. This commit creates the run and contains
// its first steps, up to the first call of a task or the first wait. The [Server.Serve] of this process then
// continues the run, also if ctx ends. If the process dies, any other process that serves the store continues it.
//
// Start creates the run as due, without any steps, if this server does not serve now or has no free slot. It does the
// same if the memory budget of the process or a limit (see [SetLimit]) is reached, or if the server is looking
// for a run that kills its processes. Any process that serves the store then takes the run up.
//
// If Start returns one of these errors, nothing was created:
//
//   - an error that wraps [storage.ErrExists] if a run with that id exists, and [ErrInputsDiffer] if it was started
//     with other inputs
//   - an error that wraps a *[storage.ConflictError] if a condition of [Unchanged] does not hold
//   - an error that wraps [storage.ErrNotFound] if the server's catalog does not have the run's flow
//   - [ErrChanged] if the catalog has the flow, but not with the structure of the run
//   - the error of ctx if ctx has ended before the call
//   - another error of the store, as a *[StoreError]
//
// If the error wraps [storage.ErrUnsure], the run may have been created: ctx ended, or the store's answer was lost,
// before the result was known. Call Start again with the same id: [storage.ErrExists] means that the run was created.
func (s *Server) Start(ctx context.Context, run NewRun) error {
	if run.Claim.New == nil {
		return said(storage.ErrInvalid, "Start needs a new run; create one with Engine.NewRun or Server.NewRun")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.start(ctx, &run)
	if !errors.Is(err, storage.ErrExists) {
		return err
	}
	plan, _, _ := s.engine.planFor(ctx, &run.Snapshot.Run, nil)
	return run.existing(ctx, s.engine.env.Store, plan, err)
}

func (s *Server) start(ctx context.Context, run *NewRun) error {
	first := s.startHere(run)
	if first == nil {
		return s.create(ctx, run)
	}
	select {
	case err := <-first.result:
		if errors.Is(err, ErrStopped) { // the process stops, and nothing was committed
			return s.create(ctx, run)
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("engine: run %q: %w: it may have started: %w", run.Run, storage.ErrUnsure, context.Cause(ctx))
	}
}

// create creates a run as due.
func (s *Server) create(ctx context.Context, run *NewRun) error {
	plan, _, err := s.engine.planFor(ctx, &run.Snapshot.Run, nil)
	if err != nil {
		return err
	}
	if run.Snapshot.Run.Definition == "" {
		s.engine.keepView(ctx, plan)
	}
	return run.create(ctx, s.engine.env.Store)
}

// startHere lets the serving of this process drive a new run. It returns nil if there is none, or if it cannot take
// the run up at once.
func (s *Server) startHere(run *NewRun) *acknowledgment {
	serving := s.serving.Load()
	if serving == nil {
		return nil
	}
	return serving.start(run)
}

// start drives a new run beside the runs that look finds.
func (s *serving) start(run *NewRun) *acknowledgment {
	now := time.Now()
	if s.isolations.restrains(s.e.env.Store.Deaths(), now) || s.e.env.Memory.Exhausted(now) || !s.slots.try() {
		return nil
	}
	one := *run
	one.first = &acknowledgment{result: make(chan error, 1)}
	one.since = s.e.env.Inbox.Mark()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.busy[one.Run]; busy || s.closed {
		s.slots.leave()
		return nil
	}
	s.busy[one.Run] = s.e.env.Store.Version()
	s.runs.Go(func() { s.drive(&one, nil) })
	return one.first
}

// An acknowledgment tells [Server.Start] the result of a run's first commit.
type acknowledgment struct {
	once   sync.Once
	result chan error
}

// durable reports that the run's first commit is durable.
func (a *acknowledgment) durable() { a.give(nil) }

// end reports how driving the run ended, unless the first commit was durable before. It reports whether it did.
func (a *acknowledgment) end(err error) bool {
	if errors.Is(err, storage.ErrLimited) { // the commit has created the run, which waits for the limit
		err = nil
	}
	return a.give(err)
}

func (a *acknowledgment) give(err error) (first bool) {
	a.once.Do(func() { first = true; a.result <- err })
	return first
}
