package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A slowReader is a store in which a run may change between the moment it is loaded and the moment it is driven.
type slowReader struct {
	backend.Store

	loaded func() // called once, after the next Load
}

func (s *slowReader) Load(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	claim, snap, err := s.Store.Load(ctx, run)
	if f := s.loaded; f != nil {
		s.loaded = nil
		f()
	}
	return claim, snap, err
}

// TestCallAfterChange calls a run that another process changes while this process loads it. The caller may know of the
// change. So no call is refused because of the former state: neither the end of a task that was taken there, nor a call
// to a run that has ended there.
func TestCallAfterChange(t *testing.T) {
	t.Parallel()
	processes := func(t *testing.T) (slow *slowReader, here, there *callee) {
		t.Helper()
		records := memstore.New()
		slow = &slowReader{Store: records}
		here, there = newCallee(t, slow), newCallee(t, records.Join())
		here.start("r")
		here.ask("r", "task", []int{0})
		return slow, here, there
	}
	refused := func(t *testing.T, here *callee) error {
		t.Helper()
		_, err := here.Call(t.Context(), "r", "refuse", atom.MustEncode("no"))
		return err
	}
	t.Run("taken", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			slow, here, there := processes(t)
			over := make(chan error, 1)
			slow.loaded = func() {
				task, err := there.TakeTask(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, 0, nil)
				if err != nil {
					t.Error(err)
					return
				}
				go func() {
					_, err := here.CompleteTask(t.Context(), task.Token, task.Delivery, nil)
					over <- err
				}()
				synctest.Wait() // it still waits for the run as it was loaded
			}
			if err := refused(t, here); !errors.As(err, new(*engine.RefusedCall)) {
				t.Error(err)
			}
			if err := <-over; err != nil {
				t.Errorf("the task was taken, and cannot be completed: %v", err)
			}
		})
	})
	t.Run("ended", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			slow, here, there := processes(t)
			slow.loaded = func() { there.ask("r", "end", nil) }
			if err := refused(t, here); !errors.Is(err, engine.ErrEnded) {
				t.Error(err)
			}
		})
	})
	// The run is ended in the commit in which its task is taken: the task is over when its worker has it.
	t.Run("ended with a task", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			slow, here, _ := processes(t)
			over := make(chan error, 1)
			slow.loaded = func() {
				go func() {
					_, err := here.Call(t.Context(), "r", "end", nil)
					over <- err
				}()
				synctest.Wait() // both wait for the driver
			}
			task, err := here.TakeTask(t.Context(), storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := <-over; err != nil {
				t.Error(err)
			}
			if _, err := here.CompleteTask(t.Context(), task.Token, task.Delivery, nil); !errors.Is(err, storage.ErrGone) {
				t.Error(err)
			}
		})
	})
}

// TestCallOfGivenUpAnswer cancels a run whose language never ends its answer to a call. The answer is given up, and the
// caller learns that the run has ended.
func TestCallOfGivenUpAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, released := make(chan struct{}), make(chan struct{})
		slow := lang(func(ask *grow.Ask) grow.Growth {
			if ask.Cause.Kind == grow.Asked {
				close(asked)
				<-released
			}
			if ask.Cause.Kind == grow.Begin {
				return add(work("a"))
			}
			return grow.Growth{Listen: true}
		})
		s, root, began := memstore.New(), flow.Growing("slow", slow), make(chan struct{})
		stage := &stage{do: script{"a": func(ctx context.Context, _ int) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		}}}
		server, err := engine.NewServer(engine.Flows(root), s,
			engine.WithEngine(engine.WithTasks(parts{stage}), engine.WithGrace(0)))
		if err != nil {
			t.Fatal(err)
		}
		(&callee{server, t, s, root}).start("r")
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		<-began
		go func() {
			<-asked
			if err := engine.Send(t.Context(), s, "r", engine.Cancel("")); err != nil {
				t.Error(err)
			}
		}()
		if _, err := server.Call(t.Context(), "r", "wait", nil); !errors.Is(err, engine.ErrEnded) {
			t.Error(err)
		}
		close(released)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
