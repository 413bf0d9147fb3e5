package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// forking is a machine that starts itself twice, and catches every failure of that.
func forking(pattern string) string {
	start := func(name, next string) string {
		return `"` + name + `": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution` + pattern + `",
			"Parameters": {"StateMachineArn": "pack", "Input": {}}, "ResultPath": null,
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "` + next + `"}], "Next": "` + next + `"}`
	}
	return `{"StartAt": "A", "States": {` + start("A", "B") + `, ` + start("B", "C") + `, "C": {"Type": "Pass", "End": true}}}`
}

// forkingSM4C is the same machine in the other language.
const forkingSM4C = `{"name": "pack", "version": "1",
 "states": [{"name": "A", "start": true, "enterAction": {"type": "parallel", "actions": [
  {"type": "invokeSubflow", "subflowName": "pack", "waitForCompletion": false}, {"type": "invokeSubflow", "subflowName": "pack", "waitForCompletion": false}]}}]}`

// growFamily runs a flow that creates runs of itself, and these runs, until none is left or the given number was
// driven. Each process dies after the given number of commits.
func growFamily(t *testing.T, node flow.Node, catalog engine.Catalog, l engine.Limits, death int) (runs []storage.Run) {
	t.Helper()
	records := memstore.New()
	for tries := 0; ; tries++ {
		if tries > 2000 {
			t.Fatal("no end")
		}
		ctx, cancel := context.WithCancel(t.Context())
		process := records.Join()
		store := dies(process, death)
		store.died = cancel
		eng := newEngine(t, node, engine.WithStore(store), engine.WithCatalog(catalog), engine.WithLimits(l))
		err := driveAll(ctx, eng)
		cancel()
		if err := process.Close(); err != nil {
			t.Fatal(err)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errDied) && !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		death++ // otherwise it would not progress
	}
	runs, err := records.Runs(t.Context(), storage.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// driveAll starts the run r and drives it, then every other run.
func driveAll(ctx context.Context, eng *engine.Engine) error {
	_, err := eng.Run(ctx, "r", engine.Input(atom.FromJSON([]byte(`{}`))))
	for err == nil || errors.As(err, new(*engine.RevertedError)) || errors.As(err, new(*engine.FailedError)) {
		var open []storage.Run
		all, listed := eng.Store().Runs(ctx, storage.RunQuery{})
		if listed != nil {
			return listed
		}
		for _, r := range all {
			if !r.State.Ended() {
				open = append(open, r)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if len(all) > 500 {
			return fmt.Errorf("there are %d runs", len(all))
		}
		_, err = eng.Run(ctx, open[len(open)-1].ID)
	}
	return err
}

// TestRunLimitsOfFamilies lets machines that create two runs of themselves reach the limits of a family, at any point
// of death.
//
// Attack (Runs that grow or compute without end): A machine that starts itself twice, with or without waiting.
// Result: `descendants`, `depth`.
// Also: `storage/sqlstore: TestStore/Families`; without waiting by hand.
func TestRunLimitsOfFamilies(t *testing.T) {
	t.Parallel()
	const most = 12
	flows := map[string]engine.Catalog{}
	for _, pattern := range []string{"", ".sync"} {
		flows["asl"+pattern] = machines(t, map[string]string{"pack": forking(pattern)})
	}
	m, err := sm4c.Parse("pack", []byte(forkingSM4C))
	if err != nil {
		t.Fatal(err)
	}
	flows["sm4c"] = machineFlows{"pack": m}
	for name, catalog := range flows {
		node, err := catalog.Flow(t.Context(), &storage.Run{Flow: "pack"})
		if err != nil {
			t.Fatal(err)
		}
		for what, l := range map[string]engine.Limits{"descendants": {Descendants: most}, "depth": {Depth: 3}} {
			for _, death := range []int{forever, 0, 1, 3} {
				t.Run(fmt.Sprintf("%s/%s/%d", name, what, death), func(t *testing.T) {
					t.Parallel()
					runs := growFamily(t, node, catalog, l, death)
					wantFamily(t, runs, what, most)
				})
			}
		}
	}
}

// wantFamily checks that runs reached a limit of families, and did not exceed it.
func wantFamily(t *testing.T, runs []storage.Run, what string, most int) {
	t.Helper()
	limited := 0
	if len(runs) == 1 {
		t.Errorf("the only run failed with %v", runs[0].Failure)
	}
	for _, r := range runs {
		if f := r.Failure; f != nil && f.Code == atom.CodeLimit {
			limited++
			if !strings.Contains(f.Message, "limit of") || !strings.Contains(f.Message, "the setting is "+what+" of") {
				t.Errorf("run %s failed with %s", r.ID, f.Message)
			}
		}
		if wantRoot := map[bool]string{true: "", false: "r"}[r.ID == "r"]; r.Root != wantRoot || r.Depth > 3 && what == "depth" {
			t.Errorf("run %s has the root %q and the depth %d", r.ID, r.Root, r.Depth)
		}
	}
	if what == "descendants" && len(runs) != most+1 || limited == 0 {
		t.Errorf("%d runs, %d of which were limited", len(runs), limited)
	}
}
