package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A slowReader is a store in which a run may change between the moment it is loaded and the moment it is driven.
type slowReader struct {
	storage.Store

	loaded func() // called once, after the next Load
}

func (s *slowReader) Load(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
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
}
