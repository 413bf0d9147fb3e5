package inspect_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/inspect"
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

// TestVariablesThatAStateSees: a visit has the variables of its level and of the levels around it, as on entry.
func TestVariablesThatAStateSees(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"QueryLanguage": "JSONata", "StartAt": "Set", "States": {
		"Set": {"Type": "Pass", "Assign": {"a": 1, "b": 1}, "Next": "Each"},
		"Each": {"Type": "Map", "Items": [7, 8], "ItemProcessor": {"StartAt": "In", "States": {
			"In": {"Type": "Pass", "Assign": {"item": "{% $states.input %}"}, "Next": "Look"},
			"Look": {"Type": "Wait", "Seconds": 0, "End": true}}},
			"Assign": {"b": 2}, "Next": "Last"},
		"Last": {"Type": "Succeed"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	eng, err := engine.New(m.Flow(), store)
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
	for state, want := range map[string][]string{
		"Set": {""}, "Each": {`{"a":1,"b":1}`}, "Last": {`{"a":1,"b":2}`}, "In": {`{"a":1,"b":1}`, `{"a":1,"b":1}`},
		"Look": {`{"a":1,"b":1,"item":7}`, `{"a":1,"b":1,"item":8}`},
	} {
		var got []string
		for v, err := range inspect.Visits(t.Context(), store, &run, m.Tracer(), state) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v.Sees.String())
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s sees %q; want %q", state, got, want)
		}
	}
}
