package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// sleeper is a flow of one task that takes a minute, unless the process stops.
func sleeper() flow.Node {
	return flow.Linear("sleeper", atom.Func("sleep", func(ctx context.Context, _ struct{}) (struct{}, error) {
		select {
		case <-time.After(time.Minute):
			return struct{}{}, nil
		case <-ctx.Done():
			return struct{}{}, ctx.Err()
		}
	}))
}

// A starter starts runs of sleeper at a server that serves until stop is called.
type starter struct {
	t      *testing.T
	store  backend.Store
	server *engine.Server
	stop   func()
}

func newStarter(t *testing.T, store backend.Store, opts ...engine.ServerOption) *starter {
	t.Helper()
	server, err := engine.NewServer(engine.Flows(sleeper()), store, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return &starter{t: t, store: store, server: server, stop: func() {}}
}

func (s *starter) serve() *starter {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	over := make(chan error)
	go func() { over <- s.server.Serve(ctx) }()
	s.stop = func() {
		stop()
		if err := <-over; err != nil {
			s.t.Error(err)
		}
		s.stop = func() {}
	}
	time.Sleep(time.Second) // in virtual time
	return s
}

func (s *starter) start(ctx context.Context, id string, opts ...engine.RunOption) error {
	s.t.Helper()
	run, err := s.server.NewRun(sleeper(), id, opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.server.Start(ctx, run)
}

// want compares the state of a run. 0 means that the run does not exist.
func (s *starter) want(id string, state states.Flow) {
	s.t.Helper()
	run, err := s.store.Run(context.WithoutCancel(s.t.Context()), id)
	if state == 0 && errors.Is(err, storage.ErrNotFound) {
		return
	}
	if err != nil || run.State != state {
		s.t.Errorf("run %q is %v (%v), want %v", id, run.State, err, state)
	}
}

// TestStartAcknowledged starts runs at a server that serves, has no free slot, or does not serve.
//
// Guarantee (G1): A run whose start was acknowledged exists, and continues though the caller leaves or the server
// stops.
// Also: `TestStartLimited`, `TestStartUnsure`, `TestStartWhileStopping`, `conductor: TestStart`.
func TestStartAcknowledged(t *testing.T) { //nolint:tparallel // the stores take turns
	t.Parallel()
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := newStarter(t, join(), engine.WithSlots(2))
		large := engine.Input(atom.MustEncode(map[string]string{"x": strings.Repeat("x", 2*backend.InlineLimit)}))
		if err := s.start(t.Context(), "early", large); err != nil {
			t.Fatal(err)
		}
		s.want("early", states.FlowPending)
		s.serve()
		s.want("early", states.FlowRunning)

		ctx, leave := context.WithCancel(t.Context())
		if err := s.start(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		s.want("a", states.FlowRunning)
		leave()
		if err := s.start(t.Context(), "a"); !errors.Is(err, storage.ErrExists) {
			t.Errorf("started twice: %v", err)
		}
		if err := s.start(ctx, "never"); !errors.Is(err, context.Canceled) {
			t.Errorf("started by a caller that had left: %v", err)
		}
		s.want("never", 0)
		gone := engine.Unchanged(storage.RecordCheck{Kind: "k", Key: "gone", Revision: 7})
		if err := s.start(t.Context(), "changed", gone); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("started though a record has changed: %v", err)
		}
		if err := s.start(t.Context(), "queued"); err != nil {
			t.Fatal(err)
		}
		s.want("queued", states.FlowPending)
		time.Sleep(90 * time.Second)
		for _, id := range []string{"early", "a"} {
			s.want(id, states.FlowSuccess)
		}
		s.want("queued", states.FlowRunning)

		other, err := engine.New(flow.Linear("other", sleeper()), s.store)
		if err != nil {
			t.Fatal(err)
		}
		unknown, err := other.NewRun("unknown")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.server.Start(t.Context(), unknown); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("started on a flow that is not in the catalog: %v", err)
		}
		if err := s.server.Start(t.Context(), engine.NewRun{}); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("started without a run: %v", err)
		}
		s.stop()
		s.want("queued", states.FlowRunning)
		if err := s.start(t.Context(), "late"); err != nil {
			t.Fatal(err)
		}
		s.want("late", states.FlowPending)
		if err := s.start(t.Context(), "changed", gone); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("created though a record has changed: %v", err)
		}
		s.want("changed", 0)
		if err := s.server.Start(t.Context(), unknown); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("created on a flow that is not in the catalog: %v", err)
		}
		s.want("unknown", 0)
	})
}

// TestStartLimited starts a run that a limit does not allow yet: it is created, and started when the limit allows it.
func TestStartLimited(t *testing.T) { //nolint:tparallel // the stores take turns
	t.Parallel()
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := newStarter(t, join())
		if err := s.store.SetLimit(t.Context(), storage.Limit{Flow: "sleeper", Runs: 1}); err != nil {
			t.Fatal(err)
		}
		s.serve()
		defer s.stop()
		for _, id := range []string{"a", "b"} {
			if err := s.start(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		s.want("a", states.FlowRunning)
		s.want("b", states.FlowPending)
		time.Sleep(90 * time.Second)
		s.want("a", states.FlowSuccess)
		s.want("b", states.FlowRunning)
	})
}

// A slowStore delays commits.
type slowStore struct {
	backend.Store
	delay atomic.Int64
	fails atomic.Bool
}

func (s *slowStore) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	time.Sleep(time.Duration(s.delay.Load()))
	if s.fails.Load() {
		return fmt.Errorf("%w: the disk is full", storage.ErrBroken)
	}
	return s.Store.Commit(ctx, claim, cp)
}

// TestStartUnsure starts runs while the store is slow. A caller that leaves before the commit learns that the run may
// have started, and it has. If the commit fails, nothing was created.
func TestStartUnsure(t *testing.T) { //nolint:tparallel // the stores take turns
	t.Parallel()
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		slow := &slowStore{Store: join()}
		s := newStarter(t, slow).serve()
		defer func() { s.stop() }()
		slow.delay.Store(int64(10 * time.Second))
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if err := s.start(ctx, "a"); !errors.Is(err, storage.ErrUnsure) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("left before the commit: %v", err)
		}
		s.want("a", 0)
		time.Sleep(10 * time.Second)
		s.want("a", states.FlowRunning)
		slow.fails.Store(true)
		if err := s.start(t.Context(), "b"); !errors.Is(err, storage.ErrBroken) {
			t.Errorf("the commit failed: %v", err)
		}
		s.want("b", 0)
		slow.fails.Store(false)
	})
}

// TestStartWhileStopping stops a server while callers start runs. Each run that Start reports exists, and no slot is
// lost.
func TestStartWhileStopping(t *testing.T) { //nolint:tparallel // the stores take turns
	t.Parallel()
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := newStarter(t, join(), engine.WithSlots(3))
		for round := range 5 {
			s.serve()
			started := make(chan string)
			for n := range 6 {
				go func() {
					id := fmt.Sprintf("%d-%d", round, n)
					if err := s.start(t.Context(), id); err != nil {
						t.Error(err)
					}
					started <- id
				}()
			}
			s.stop()
			for range 6 {
				id := <-started
				if _, err := s.store.Run(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		}
		s.serve()
		time.Sleep(15 * time.Minute) // three at a time take ten
		synctest.Wait()
		for round := range 5 {
			for n := range 6 {
				s.want(fmt.Sprintf("%d-%d", round, n), states.FlowSuccess)
			}
		}
		s.stop()
	})
}
