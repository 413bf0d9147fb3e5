package inspect_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestGrownView: without a diagram of its flow, a run is drawn by the order of its steps. Each task takes a second, and
// the first call fails.
func TestGrownView(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
			"A": {"Type": "Task", "Resource": "exec:a", "Retry": [{"ErrorEquals": ["Busy"]}], "Next": "P"},
			"P": {"Type": "Parallel", "Next": "Z", "Branches": [
				{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:b", "End": true}}},
				{"StartAt": "C", "States": {
					"C": {"Type": "Task", "Resource": "exec:c", "Next": "D"},
					"D": {"Type": "Task", "Resource": "exec:d", "End": true}}}]},
			"Z": {"Type": "Task", "Resource": "exec:z", "End": true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		store := memstore.New()
		if _, err := inspect.GrownView(t.Context(), store, &storage.Run{ID: "r"}); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("of a run without steps: %v", err)
		}
		eng, err := engine.New(m.Flow(), store, engine.WithTasks(busyOnce{new(atomic.Int64)}))
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
		v, err := inspect.GrownView(t.Context(), store, &run)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]string{}
		for _, n := range v.Nodes {
			in[n.ID] = n.In + " " + n.Label + " " + n.State
		}
		var got []string
		for _, e := range v.Edges {
			got = append(got, in[e.From]+" > "+in[e.To])
		}
		want := []string{
			" start  >  A SUCCESS", " A SUCCESS > P[0] B SUCCESS", " A SUCCESS > P[1] C SUCCESS",
			"P[0] B SUCCESS >  Z SUCCESS", "P[1] C SUCCESS > P[1] D SUCCESS", "P[1] D SUCCESS >  Z SUCCESS", " Z SUCCESS >  end ",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
