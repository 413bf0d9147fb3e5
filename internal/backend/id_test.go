package backend_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// TestIDs: one rule for ids holds for new runs, jobs, schedules and limits, by whatever door they come. Ids of child
// runs have names of nodes, so any text. A limit of any name can be removed.
//
// Attack (HTTP server): IDs that no path can contain, that a reader cannot see, or that a header cuts.
// Result: Refused at every door.
func TestIDs(t *testing.T) {
	t.Parallel()
	for id, fine := range map[string]bool{
		"order-17": true, "order 17": true, "a/b": true, "größe": true, "a~2": true, "...": true, "nightly@2026-11-29T00:00:00Z": true,
		"": false, ".": false, "..": false, "/": false, " a": false, "a\t": false, "a\nb": false, "\x1b[2J": false, "a\u202eb": false,
		"a\u200bb": false, "a\x00b": false, "a\u00a0": false, "\xff": false, "a\ufffd": false,
		strings.Repeat("x", backend.MaxID+1): false,
	} {
		if err := backend.CheckID("job", id); fine != (err == nil) || !fine && !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
		_, _, err := backend.ClaimNew(storage.Run{ID: id, Flow: "f"})
		if fine != (err == nil) {
			t.Errorf("a new run %q: %v", id, err)
		}
		plan, err := flow.Compile(flow.Linear("f", atom.Awaits[string]("wait", id, atom.Deferral{})), nil)
		if err == nil && id != "" {
			if err := backend.CheckPlan(plan); fine != (err == nil) {
				t.Errorf("a flow that awaits the signal %q: %v", id, err)
			}
		}
		limit := storage.Limit{Flow: id, Runs: 1}
		if err := backend.CheckLimit(&limit); (fine || id == "") != (err == nil) {
			t.Errorf("a limit of flow %q: %v", id, err)
		}
		limit.Runs = 0
		if err := backend.CheckLimit(&limit); err != nil {
			t.Errorf("the removal of a limit of flow %q: %v", id, err)
		}
	}
	if _, _, err := backend.ClaimNew(storage.Run{ID: "q/a\nb", Parent: "q", Flow: "f"}); err != nil {
		t.Errorf("a child run: %v", err)
	}
}
