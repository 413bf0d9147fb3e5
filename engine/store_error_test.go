package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestBrokenStoreIsNotAsked: if a store says that it writes nothing more, the engine does not repeat the call, and the
// run stops there.
//
// Guarantee (G10): The engine does not ask a store again that writes nothing more.
func TestBrokenStoreIsNotAsked(t *testing.T) {
	t.Parallel()
	commits := 0
	store := faultstore.New(memstore.New(), func(c faultstore.Call) faultstore.Fault {
		if c.Method != "Commit" {
			return faultstore.Fault{}
		}
		if commits++; commits == 1 {
			return faultstore.Fault{}
		}
		return faultstore.Fault{Err: fmt.Errorf("%w: the disk is gone", storage.ErrBroken)}
	})
	eng := newEngine(t, flow.Linear("f", atom.Func("a", noop), atom.Func("b", noop)), engine.WithStore(store))
	if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.StoreError)) || !errors.Is(err, storage.ErrBroken) {
		t.Errorf("the run ended with %v", err)
	}
	if commits != 2 {
		t.Errorf("%d commits were tried; want one more than was done", commits)
	}
	if r, err := store.Run(t.Context(), "r"); err != nil || r.State != states.FlowRunning {
		t.Errorf("the run is %v, %v", r.State, err)
	}
}

// TestStoreErrorIsNoFailure: a store that fails neither fails nor reverts a run
// (G10).
//
// Guarantee (G10): A run whose store fails stays as committed, and reverts nothing.
func TestStoreErrorIsNoFailure(t *testing.T) {
	t.Parallel()
	w := &world{}
	records := memstore.New()
	process := records.Join()
	eng, err := engine.New(flow.Linear("f", w.task("a", nil), w.task("b", nil)), dies(process, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = eng.Run(t.Context(), "r")
	if _, ok := errors.AsType[*engine.StoreError](err); !ok {
		t.Fatalf("got %v; want the store's error", err)
	}
	head, err := records.Run(t.Context(), "r")
	if err != nil || head.State != states.FlowRunning {
		t.Errorf("the run is %v (%v); want it as it was last committed", head.State, err)
	}
	for _, call := range w.calls {
		if strings.HasPrefix(call, "undo") {
			t.Errorf("reverted on account of the store: %v", w.calls)
		}
	}
}
