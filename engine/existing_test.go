package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A prunedStore purges a run before it is read.
type prunedStore struct {
	backend.Store

	run string
}

func (s *prunedStore) Run(ctx context.Context, id string) (storage.Run, error) {
	if id == s.run {
		if _, err := s.Purge(ctx, id); err != nil {
			return storage.Run{}, err
		}
	}
	return s.Store.Run(ctx, id)
}

// TestExisting: a purged run is not created again if a caller resumes it, or if a server takes it up because of a
// message.
//
// Guarantee (G8): Resuming a deleted run creates nothing.
func TestExisting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &prunedStore{Store: memstore.New()}
		w := &world{}
		eng := newEngine(t, flow.Linear("f", w.task("a", nil)), engine.WithStore(store))
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r", engine.Existing()); err != nil {
			t.Errorf("a run that exists: %v", err)
		}
		if err := engine.Send(t.Context(), store, "r", engine.Hold()); err != nil {
			t.Fatal(err)
		}
		calls := len(w.calls)
		store.run = "r"
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		if err := eng.Serve(ctx); err != nil {
			t.Error(err)
		}
		if _, err := eng.Run(t.Context(), "r", engine.Existing()); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("a run that was purged: %v", err)
		}
		if runs, err := store.Runs(t.Context(), storage.RunQuery{}); err != nil || len(runs) > 0 || len(w.calls) != calls {
			t.Errorf("it was created anew: %d runs (%v), calls %v", len(runs), err, w.calls)
		}
	})
}

// TestRunNeedsAnID: a run without an id is refused before anything is written.
func TestRunNeedsAnID(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	eng, err := engine.New(flow.Linear("f", atom.Func("a", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, nil
	})), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), ""); !errors.Is(err, storage.ErrInvalid) || !strings.Contains(err.Error(), "needs an id") {
		t.Errorf("got %v", err)
	}
	if runs, err := store.Runs(t.Context(), storage.RunQuery{}); err != nil || len(runs) > 0 {
		t.Errorf("the store has %v (%v)", runs, err)
	}
}
