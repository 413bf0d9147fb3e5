package enginetest_test

import (
	"errors"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDieAt lets the process of a run die at each of its commits in turn. Only the work after the last commit is
// repeated.
func TestDieAt(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		s := newShop(t)
		records := memstore.New()
		run := func(store storage.Store) error {
			eng, err := engine.New(order(s), store)
			if err != nil {
				t.Fatal(err)
			}
			_, err = eng.Run(t.Context(), "r")
			return err
		}
		err := run(enginetest.DieAt(records.Join(), n))
		if _, ok := errors.AsType[*engine.StoreError](err); !ok || !errors.Is(err, storage.ErrClosed) {
			t.Fatalf("death after %d commits: the run ended with %v", n, err)
		}
		head, err := records.Run(t.Context(), "r")
		if n == 0 != errors.Is(err, storage.ErrNotFound) || head.Seq != int64(n) {
			t.Errorf("death after %d commits: %d were made, %v", n, head.Seq, err)
		}
		if err := run(records); err != nil {
			t.Errorf("death after %d commits: another process ends with %v", n, err)
		}
		if want := (shown{4, 30, map[string]bool{"ship": true}}); s.Stock != want.Stock || s.Paid != want.Paid ||
			!s.Parcels["ship"] {
			t.Errorf("death after %d commits: the shop is %+v", n, s)
		}
	}
}

// TestDieAtStep: a step of a run without an owner is a commit, too.
func TestDieAtStep(t *testing.T) {
	t.Parallel()
	records := memstore.New()
	if err := records.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	s := backend.Of(enginetest.DieAt(records.Join(), 1))
	step := func(snap *backend.Snapshot) (*backend.Checkpoint, error) {
		return &backend.Checkpoint{Head: backend.Head{Seq: snap.Run.Seq, State: states.FlowRunning}}, nil
	}
	if err := s.Step(t.Context(), "r", step); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(t.Context(), "r", step); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("the second step: %v", err)
	}
}
