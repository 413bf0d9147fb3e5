package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
)

// TestFold keeps a tree small that very much happens in, counts what it does not keep, and
// shows what failed and what is undone, wherever that is.
func TestFold(t *testing.T) {
	t.Parallel()
	const n = 30_000
	tr := newTree("trip", "trip-1")
	now := start
	apply := func(path, from, to string) {
		c := change{path: path, from: from, to: to, at: now}
		if to == "FAILURE" {
			c.failure = &atom.Failure{Code: "Broken"}
		}
		tr.apply(&c)
	}
	do := func(path, end string) {
		apply(path, "PENDING", "RUNNING")
		apply(path, "RUNNING", end)
	}
	for i := range n {
		do(fmt.Sprint("Pay#", i), "SUCCESS")
	}
	do("Broken", "FAILURE")
	apply("Fork", "PENDING", "RUNNING")
	for i := range n {
		branch := fmt.Sprintf("Fork[%d]", i)
		apply(branch, "PENDING", "RUNNING")
		do(branch+"/Ship", "SUCCESS")
		apply(branch, "RUNNING", "SUCCESS")
	}
	for i := n - 1; i >= 0; i-- {
		path := fmt.Sprint("Pay#", i)
		apply(path, "SUCCESS", "REVERTING")
		end := "REVERTED"
		if i == n/2 {
			end = "REVERT_FAILURE"
		}
		apply(path, "REVERTING", end)
	}
	if len(tr.steps) > keptInAll || len(tr.undone) != keptUndone || tr.forgotten != n-keptUndone {
		t.Errorf("%d steps are kept, and %d of what was undone; %d are forgotten", len(tr.steps), len(tr.undone), tr.forgotten)
	}
	if at := tr.stuckAt(); at != fmt.Sprint("Pay#", n/2) {
		t.Errorf("it is stuck at %q", at)
	}
	text := strings.Join(tr.lines(now, page{}), "\n")
	for _, want := range []string{
		fmt.Sprintf("%d REVERTED", n-1-(keptOfOthers-3)), "✗ Broken", fmt.Sprintf("! Pay#%d", n/2),
		fmt.Sprintf("%d SUCCESS", n-fewOfMany), fmt.Sprintf("%d more (ebb history trip-1)", n-keptUndone),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
