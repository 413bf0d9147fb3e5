package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// longCall lets a process drive a run with a call that ends when over is closed or stop is called.
func longCall(t *testing.T, store backend.Store, over <-chan struct{}) (there *callee, stop func() error) {
	t.Helper()
	begun := make(chan struct{})
	there = newCallee(t, store, engine.WithTasks(bodies(func(ctx context.Context) error {
		close(begun)
		select {
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})))
	there.start("r")
	there.ask("r", "work", nil)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- there.Serve(ctx) }()
	<-begun
	return there, func() error { cancel(); return <-served }
}

// TestCallsArePassedOn calls a run that another process drives, in the middle of a long call of a task. That process
// answers at once. All kinds of requests get all kinds of answers.
func TestCallsArePassedOn(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, of, other backend.Store) {
		t.Helper()
		there, stop := longCall(t, of, nil)
		here, ctx := newCallee(t, other), t.Context()
		owner := there.run("r").Owner
		if n := here.ask("r", "add", nil); n != 2 {
			t.Errorf("the second call is call %d", n)
		}
		refused := new(*engine.RefusedCall)
		if _, err := here.Call(ctx, "r", "refuse", atom.MustEncode("why")); !errors.As(err, refused) ||
			text((*refused).Value) != `"why"` {
			t.Errorf("a refused call: %v", err)
		}
		here.ask("r", "task", []int{0, 7})
		task, err := here.TakeTask(ctx, storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text(task.Input) != "1" || text(task.Note) != `"taken by \"w\""` || task.Delivery != 1 || task.Attempt != 1 {
			t.Errorf("taken: %+v", task)
		}
		if _, err := here.CompleteTask(ctx, task.Token, 1, atom.MustEncode("bad")); !errors.As(err, refused) {
			t.Errorf("a refused result: %v", err)
		}
		if _, err := here.CompleteTask(ctx, task.Token, 1, atom.MustEncode("good")); err != nil {
			t.Error(err)
		}
		if _, err := here.CompleteTask(ctx, task.Token, 1, nil); !errors.Is(err, storage.ErrGone) {
			t.Errorf("a task that is completed twice: %v", err)
		}
		if run := there.run("r"); owner == "" || run.Owner != owner {
			t.Errorf("%q drove the run, and now %q", owner, run.Owner)
		}
		if _, err := here.Call(ctx, "r", "panic", nil); !errors.As(err, new(*atom.Failure)) {
			t.Errorf("a call that panics: %v", err)
		}
		if _, err := here.Call(ctx, "r", "add", nil); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("a call to a run that has ended: %v", err)
		}
		if _, messages, err := backend.AllMessages(ctx, other, "r"); err != nil || len(messages) > 0 {
			t.Errorf("%d messages are left: %v", len(messages), err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			records := memstore.New()
			test(t, records, records.Join())
		})
	})
	open := func(t *testing.T, dsn string) (stores [2]backend.Store) {
		t.Helper()
		for i := range stores {
			s, err := sqlstore.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			stores[i] = s
		}
		return stores
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		stores := open(t, "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
		test(t, stores[0], stores[1])
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		stores := open(t, dsn)
		test(t, stores[0], stores[1])
	})
}

// TestPassedCallCrash lets the process that drives a run die at every commit of calls that were passed to it, before
// and after it. Each call is answered once.
func TestPassedCallCrash(t *testing.T) {
	t.Parallel()
	for after := range 5 {
		for _, lost := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				records := memstore.New()
				process := records.Join()
				store := dies(process, forever)
				store.lost = lost
				_, stop := longCall(t, store, nil)
				here := newCallee(t, records)
				store.left.Store(int64(after))
				died := make(chan struct{})
				store.died = func() {
					go func() {
						_ = process.Close() // its runs become due for others
						close(died)
					}()
				}
				for n := 2; n < 7; n++ {
					if got := here.ask("r", "add", nil); got != n {
						t.Fatalf("call %d is answered as %d", n, got)
					}
				}
				<-died
				if run := here.run("r"); run.Events != 7 {
					t.Errorf("%d events", run.Events)
				}
				_ = stop() // its store is closed
			})
		}
	}
}

// TestPassedCallOfCallerWhoLeaves calls a run whose owner never answers. The caller waits only as long as it wants, and
// does not learn whether the call was answered.
func TestPassedCallOfCallerWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		records := memstore.New()
		here := newCallee(t, records.Join())
		here.start("r")
		if _, _, err := records.Begin(t.Context(), "r"); err != nil { // it only keeps the run
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := here.Call(ctx, "r", "add", nil)
		if !errors.Is(err, storage.ErrUnsure) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the call ends with %v", err)
		}
		if took := time.Since(began); took > 1200*time.Millisecond {
			t.Errorf("the caller waits for %s", took)
		}
	})
}

// TestPassedCallToHeld calls a run that is suspended before the call arrives. The caller learns that, and the call does
// not happen when the run is resumed.
func TestPassedCallToHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		records, over := memstore.New(), make(chan struct{})
		there, stop := longCall(t, records, over)
		here := newCallee(t, &slowSender{Store: records.Join(), before: func() {
			if err := engine.Send(t.Context(), records, "r", engine.Hold()); err != nil {
				t.Error(err)
			}
			close(over)
			synctest.Wait()
		}})
		if _, err := here.Call(t.Context(), "r", "add", nil); !errors.Is(err, engine.ErrSuspended) {
			t.Errorf("a call to a suspended run: %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		e, err := engine.New(there.root, records)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		resumed := make(chan struct{})
		go func() {
			_, _ = e.Run(ctx, "r") // until the end of the test
			close(resumed)
		}()
		synctest.Wait()
		if n := here.ask("r", "add", nil); n != 2 {
			t.Errorf("the first call after the suspension is call %d", n)
		}
		cancel()
		<-resumed
	})
}

// A slowSender is a store in which something happens before the next message is sent.
type slowSender struct {
	backend.Store

	before func() // called once
}

func (s *slowSender) Send(ctx context.Context, messages ...storage.Message) error {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	return s.Store.Send(ctx, messages...)
}
