package retention

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestRetention(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	policy, err := Parse([]string{"30d", ":failure=90d", "trip=2w", "trip:REVERTED=forever", "a:b:SUCCESS=1h30m", "odd=name:SUCCESS=0s"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		flow  string
		state states.Flow
		want  time.Duration
	}{
		{"other", states.FlowSuccess, 30 * day},
		{"other", states.FlowFailure, 90 * day},
		{"trip", states.FlowSuccess, 14 * day},
		{"trip", states.FlowFailure, 14 * day}, // the flow is closer than the state
		{"trip", states.FlowReverted, forever},
		{"a:b", states.FlowSuccess, 90 * time.Minute},
		{"odd=name", states.FlowSuccess, 0},
	}
	for _, test := range tests {
		if got := policy.age(&storage.Run{Flow: test.flow, State: test.state}); got != test.want {
			t.Errorf("%s %v is kept for %v; want %v", test.flow, test.state, got, test.want)
		}
	}
	if got := (Policy{}).age(&storage.Run{}); got != forever {
		t.Errorf("what no rule is for is kept for %v", got)
	}
	for _, bad := range []string{"", "=", "x", "-1d", "1.5d", "-1h", "999999999999d", "1y", "trip:RUNNING=1d", ":=1d", "forever1"} {
		if _, err := Parse([]string{bad}); exit.Of(err) != exit.Usage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestOutdated keeps a run that was begun by another as long as that is kept,
// which may want it undone.
func TestOutdated(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	long, short := time.Now().Add(-90*time.Minute), time.Now().Add(-time.Minute)
	for _, run := range []storage.Run{
		{ID: "old", State: states.FlowSuccess, Ended: long},
		{ID: "old/child", Parent: "old", State: states.FlowSuccess, Ended: long},
		{ID: "old/child/child", Parent: "old/child", State: states.FlowSuccess, Ended: long},
		{ID: "new", State: states.FlowSuccess, Ended: short},
		{ID: "new/child", Parent: "new", State: states.FlowSuccess, Ended: long},
		{ID: "new/child/child", Parent: "new/child", State: states.FlowSuccess, Ended: long},
		{ID: "orphan", Parent: "gone", State: states.FlowFailure, Ended: long},
		{ID: "self", Parent: "self", State: states.FlowFailure, Ended: long},
		{ID: "running", State: states.FlowRunning},
		{ID: "undone", State: states.FlowFailure, Ended: long, Labels: map[string]string{swf.LabelUndo: "undoes"}},
		{ID: "undoes", Parent: "undone", State: states.FlowRunning},
	} {
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	if err := Outdated(context.Background(), store, Policy{{age: time.Hour}}, func(run *storage.Run) error {
		ids = append(ids, run.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"orphan", "old/child/child", "old/child", "old"}, ids); diff != "" {
		t.Errorf("outdated (-want +got):\n%s", diff)
	}
}
