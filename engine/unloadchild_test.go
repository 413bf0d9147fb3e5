package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestUnloadBesideAChild: a run whose child run executes in this process does not only wait. Neither Run with Unload
// nor Serve interrupts the child's task.
func TestUnloadBesideAChild(t *testing.T) {
	for _, serve := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			calls, cut := 0, 0
			work := atom.Func("work", func(ctx context.Context, _ struct{}) (struct{}, error) {
				calls++
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done():
					cut++
				}
				return struct{}{}, ctx.Err()
			})
			e := newEngine(t, flow.Linear("order", flow.Run[struct{}, struct{}]("ship", flow.Linear("labels", work))),
				engine.WithStore(memstore.New()))
			if serve {
				if err := e.Start(t.Context(), "o"); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error, 1)
				go func() { served <- e.Serve(ctx) }()
				time.Sleep(2 * time.Minute)
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			} else if _, err := e.Run(t.Context(), "o", engine.Unload()); err != nil {
				t.Errorf("Run: %v (waiting: %v)", err, errors.Is(err, engine.ErrWaiting))
			}
			run, err := e.Store().Run(t.Context(), "o")
			if err != nil || run.State != states.FlowSuccess || calls != 1 || cut != 0 {
				t.Errorf("serve=%v: the run is %v, with %d calls, %d cut off: %v", serve, run.State, calls, cut, err)
			}
		})
	}
}

// TestUnloadWithAChildThatWaits releases a run and its child run as soon as both only wait.
func TestUnloadWithAChildThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick := atom.Func("quick", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
		waits := flow.Linear("labels", quick, atom.Awaits[struct{}]("approval", "approved", atom.Deferral{}))
		e := newEngine(t, flow.Linear("order", flow.Run[struct{}, struct{}]("ship", waits)),
			engine.WithStore(memstore.New()))
		if _, err := e.Run(t.Context(), "o", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		for _, id := range []string{"o", "o/ship"} {
			if run, err := e.Store().Run(t.Context(), id); err != nil || run.Owner != "" || run.State != states.FlowRunning {
				t.Errorf("run %q is %v, of the owner %q: %v", id, run.State, run.Owner, err)
			}
		}
		signal := storage.Message{Run: "o/ship", Kind: grow.MessageSignal, Name: "approved", Body: atom.Null}
		if err := e.Store().Send(t.Context(), signal); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "o", engine.Unload()); err != nil {
			t.Error(err)
		}
	})
}
