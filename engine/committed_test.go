package engine_test

import (
	"errors"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCommittedCommand gives commands through a store that fails from their commit on.
func TestCommittedCommand(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	root := flow.Linear("f", atom.Awaits[int]("wait", "paid", atom.Deferral{}))
	e := newEngine(t, root, engine.WithStore(store))
	if _, err := e.Run(t.Context(), "r", engine.Unload()); err == nil {
		t.Fatal("it does not wait")
	}
	run, err := store.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	fails := func() backend.Store { return faultstore.New(store, faultstore.After(1, faultstore.Busy)) }
	if applied, err := engine.Apply(t.Context(), fails(), &run, "", engine.Resume()); applied || err != nil {
		t.Errorf("Apply: %v, %v", applied, err)
	}
	if run, err := engine.Suspend(t.Context(), fails(), "r"); err != nil || !run.Hold {
		t.Errorf("Suspend: %+v, %v", run, err)
	}
	if _, _, err := store.Begin(t.Context(), "r"); err != nil { // another process drives it
		t.Fatal(err)
	}
	_, err = newEngine(t, root, engine.WithStore(fails())).Command(t.Context(), "r", engine.Cancel("no need"))
	if _, broken := errors.AsType[*engine.StoreError](err); !broken || !errors.Is(err, engine.ErrStopped) {
		t.Errorf("Command: %v", err)
	}
}
