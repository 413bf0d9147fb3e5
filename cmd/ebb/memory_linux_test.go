package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// wideMap runs 120 items at once, each with 240,000 bytes, which it loses at its end.
const wideMap = `{"QueryLanguage": "JSONata", "StartAt": "Map", "States": {"Map": {
	"Type": "Map", "Items": "{% [1..120] %}", "Output": {}, "End": true,
	"ItemProcessor": {"StartAt": "Large", "States": {
		"Large": {"Type": "Pass", "Output": "{% {'x': $pad('', 240000, 'x')} %}", "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 2, "Next": "Small"},
		"Small": {"Type": "Pass", "Output": {}, "End": true}}}}}}`

// TestLargeRunsShareMemory: a server with a budget of 96 MiB drives sixteen runs at once, each of which needs nearly a
// third of it. All succeed, and the server does not need much more than its budget: without turns it needed 700 MiB.
//
// Attack (Runs and processes that die): Sixteen Maps, each of which holds 29 MB, on a server with `--memory 96MiB`.
// Result: All succeed, and the process has less than 450 MiB.
func TestLargeRunsShareMemory(t *testing.T) {
	t.Parallel()
	longtest.Needs(t) // 20 seconds of both processors
	v := newVictim(t, "")
	file := filepath.Join(v.dir, "wide.asl.json")
	if err := os.WriteFile(file, []byte(wideMap), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.Open(t.Context(), v.db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	board := jobs.New(store, jobs.Policy{})
	list := make([]jobs.Job, 16)
	for i := range list {
		list[i] = jobs.Job{ID: fmt.Sprint("run", i), Flow: "wide"}
	}
	if _, err := board.Post(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	server, _ := v.serves(t, "--memory", "96MiB", file)
	for i := range list {
		job, err := board.Await(t.Context(), list[i].ID)
		if err != nil || job.State != states.JobComplete || job.Failure != nil {
			t.Errorf("%s is %v because of %v (%v)", list[i].ID, job.State, job.Failure, err)
		}
	}
	peak := peakMemory(t, server.Process.Pid)
	t.Logf("%d MiB", peak)
	if peak > 450 {
		t.Errorf("the server had %d MiB", peak)
	}
}
