package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestSiblingsTimeOutTogether: if the time of several branches is up in one instant, the history has the timeout of each
// one. A branch that has time left is only aborted.
func TestSiblingsTimeOutTogether(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	m, err := asl.Parse("m", []byte(`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "do:wait", "TimeoutSeconds": 5, "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "do:wait", "TimeoutSeconds": 6, "End": true}}},
		{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "do:wait", "TimeoutSeconds": 5, "End": true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var events []string
		begun := time.Now()
		eng, err := engine.New(m.Flow(), memstore.New(),
			engine.WithTasks(parts{&stage{do: map[string]func(context.Context, int) error{"wait": wait}}}),
			engine.WithObserver(func(ev engine.Event) {
				if ev.Kind == engine.LanguageEvent && ev.Name == "TaskTimedOut" && time.Since(begun) == 5*time.Second {
					events = append(events, ev.Path)
				}
			}))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = eng.Run(t.Context(), "r")
		slices.Sort(events)
		if diff := cmp.Diff([]string{"A", "C"}, events); diff != "" {
			t.Errorf("timed out (-want +got):\n%s", diff)
		}
	})
}
