package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestDrain: atoms that execute when Serve must stop may end, and their ends are recorded. No other atom starts. Atoms
// that take longer than the drain are cancelled.
//
// Guarantee (Jobs): A draining process lets atoms end within the drain time, starts nothing and undoes nothing.
func TestDrain(t *testing.T) {
	t.Parallel()
	const takes, stopped = 10 * time.Second, 5 * time.Second
	for name, tc := range map[string]struct {
		drain, returns time.Duration
		acts           []string
		done           string
	}{
		"ends in time":         {time.Minute, takes, []string{"a"}, "a SUCCESS"},
		"takes too long":       {2 * time.Second, stopped + 2*time.Second, []string{"a", "a cut off"}, "a RUNNING"},
		"there is no patience": {0, stopped, []string{"a", "a cut off"}, "a RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{}
				s.do = script{"a": func(ctx context.Context, n int) error { return s.lasts(ctx, n, takes) }}
				eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")))
				if took := serveFor(t, eng, stopped, engine.WithDrain(tc.drain)); took != tc.returns {
					t.Errorf("Serve returned after %v, want %v", took, tc.returns)
				}
				wantActs(t, s, tc.acts...)
				row, err := eng.Store().Run(t.Context(), "r")
				if err != nil || row.State != states.FlowRunning || row.Owner != "" || row.Due.IsZero() || row.Hold {
					t.Errorf("the run is %+v (%v)", row, err)
				}
				atoms, err := eng.Store().Atoms(t.Context(), "r", storage.AtomQuery{})
				if got := atoms[0].Path + " " + atoms[0].State.String(); err != nil || got != tc.done {
					t.Errorf("left %s, want %s (%v)", got, tc.done, err)
				}
				if res, err := eng.Run(t.Context(), "r"); err != nil || res.Run.Outcome != storage.Succeeded {
					t.Errorf("gone on with, the run is %+v (%v)", res, err)
				}
			})
		})
	}
}

// lasts is an atom that takes a while the first time.
func (s *stage) lasts(ctx context.Context, n int, d time.Duration) error {
	if n > 1 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		s.act("a cut off")
		return ctx.Err()
	}
}

// serveFor starts the run "r", serves until it must stop, and returns the total time.
func serveFor(t *testing.T, eng *engine.Engine, d time.Duration, opts ...engine.ServerOption) time.Duration {
	t.Helper()
	began := time.Now()
	if err := eng.Start(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	if err := eng.Serve(ctx, opts...); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}
