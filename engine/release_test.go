package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestGivenBackLater: while the store is down, a process cannot release a run. Once the store is up, this process
// resumes the run or releases it, so that any process can take it.
func TestGivenBackLater(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var down atomic.Bool
			records := memstore.New()
			store := faultstore.New(records, func(faultstore.Call) faultstore.Fault {
				if down.Load() {
					return faultstore.Fault{Err: errors.New("connection refused")}
				}
				return faultstore.Fault{}
			})
			s := &stage{do: script{"a": func(context.Context, int) error { down.Store(true); return nil }}}
			eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithStore(store))
			var broken *engine.StoreError
			if _, err := eng.Run(t.Context(), "r"); !errors.As(err, &broken) {
				t.Fatal(err)
			}
			if row, err := records.Run(t.Context(), "r"); err != nil || row.Owner == "" {
				t.Fatalf("the run was given back: %+v (%v)", row, err)
			}
			if _, err := eng.Run(t.Context(), "r"); !errors.As(err, &broken) {
				t.Errorf("without a store: %v", err)
			}
			down.Store(false)
			s.do = nil
			if served {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				if err := eng.Serve(ctx); err != nil {
					t.Error(err)
				}
			} else if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Error(err)
			}
			if row, err := records.Run(t.Context(), "r"); err != nil || row.State != states.FlowSuccess {
				t.Errorf("the run is %+v (%v)", row, err)
			}
		})
	}
}
