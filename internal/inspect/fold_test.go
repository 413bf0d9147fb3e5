package inspect

import (
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// TestFold keeps the tree of a very large run small. It counts the steps that it does not keep, and shows failed and
// undone ones at any place.
func TestFold(t *testing.T) {
	t.Parallel()
	const n = 30_000
	tr := NewTree("trip", "trip-1")
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	apply := func(path, from, to string) {
		c := Change{Path: path, From: from, To: to, At: now}
		if to == "FAILURE" {
			c.Failure = &atom.Failure{Code: "Broken"}
		}
		tr.Apply(&c)
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
	if len(tr.steps) > keptInAll || len(tr.Undone) != KeptUndone || tr.Forgotten != n-KeptUndone {
		t.Errorf("%d steps are kept, and %d of what was undone; %d are forgotten", len(tr.steps), len(tr.Undone), tr.Forgotten)
	}
	if at := tr.StuckAt(); at != fmt.Sprint("Pay#", n/2) {
		t.Errorf("it is stuck at %q", at)
	}
	for path, wanted := range map[string]string{
		"":     fmt.Sprintf("%d REVERTED", n-1-(keptOfOthers-3)),
		"Fork": fmt.Sprintf("%d SUCCESS", n-MaxShownOfGroup),
	} {
		of := tr.steps[path]
		if path == "" {
			of = &tr.Top
		}
		if _, rest := of.Shown(); rest != wanted {
			t.Errorf("what is not kept below %q is told as %q, not %q", path, rest, wanted)
		}
	}
	for _, path := range []string{"Broken", fmt.Sprint("Pay#", n/2)} {
		if tr.steps[path] == nil {
			t.Errorf("%s is not kept", path)
		}
	}
}

// TestUndoneAfterTimer: a call that starts after the timer of its timeout, which is below it, is listed if it is
// undone.
func TestUndoneAfterTimer(t *testing.T) {
	t.Parallel()
	tr := NewTree("machine", "one")
	for _, c := range []Change{
		{Path: "Slow/enter/timeout", From: "PENDING", To: "RUNNING"},
		{Path: "Slow/enter", From: "PENDING", To: "RUNNING"},
		{Path: "Slow/enter/timeout", From: "RUNNING", To: "SUCCESS"},
		{Path: "Slow/enter", From: "RUNNING", To: "CANCELLED"},
		{Path: "Slow/enter", From: "CANCELLED", To: "REVERTING"},
		{Path: "Slow/enter", From: "REVERTING", To: "REVERTED"},
	} {
		tr.Apply(&c)
	}
	if len(tr.Undone) != 1 || tr.Undone[0].Path != "Slow/enter" {
		t.Errorf("undone: %v; want Slow/enter alone", tr.Undone)
	}
}
