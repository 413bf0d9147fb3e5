package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/storage"
)

// TestGroupsInOrder: groups of what does not end by itself come first. Times come in their order, however many runs
// wait for each.
func TestGroupsInOrder(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	g := grouping{now: now, groups: map[WaitName]*WaitGroup{}}
	wait := func(run string, kind WaitKind, left time.Duration) {
		g.addWait(&storage.Run{ID: run, Flow: "f"}, &Wait{Kind: kind, Due: now.Add(left)})
	}
	wait("a", WaitsForTime, 48*time.Hour)
	wait("b", WaitsForTime, 72*time.Hour)
	wait("c", WaitsForTime, 2*time.Hour)
	wait("d", WaitsForTime, time.Second)
	wait("e", WaitsForTime, -time.Second)
	wait("f", WaitsForSignal, time.Hour)
	var got []string
	waiting := g.finish()
	for i := range waiting.Groups {
		got = append(got, waiting.Groups[i].Sentence())
	}
	want := []string{"the signal \"\"", "a timer, overdue", "a timer, within 1m", "a timer, within 1d", "a timer, in more than 1d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
