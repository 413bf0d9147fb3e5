package inspect_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// busyOnce fails the first time. Each call takes a second.
type busyOnce struct{ calls *atomic.Int64 }

func (b busyOnce) Task(string) (atom.Body, error) { return b, nil }

func (b busyOnce) Execute(context.Context, atom.Values) (atom.Value, error) {
	time.Sleep(time.Second)
	if b.calls.Add(1) == 1 {
		return nil, atom.Errorf("Busy", "busy")
	}
	return atom.Null, nil
}

func (busyOnce) Reverts() bool { return false }

func (busyOnce) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

// TestAttemptsOfVisit: the pause before a retry of a state is not part of the attempt.
func TestAttemptsOfVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := asl.Parse("m", []byte(`{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "exec:pay", `+
			`"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 60}], "End": true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		store := memstore.New()
		eng, err := engine.New(m.Flow(), engine.WithStore(store), engine.WithTasks(busyOnce{new(atomic.Int64)}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		run, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		for v, err := range inspect.Visits(t.Context(), store, &run, m.Tracer(), "Pay") {
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range v.Attempts {
				took = append(took, a.Ended.Sub(a.Started))
			}
		}
		if len(took) != 2 || took[0] != time.Second || took[1] != time.Second {
			t.Errorf("the attempts took %v; want 1 s each", took)
		}
	})
}
