package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestPythonWorker: the worker of the example does, and undoes, the tasks of runs
// that a server drives; the server drains while the worker waits for more.
func TestPythonWorker(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3: it is not on this machine")
	}
	example, err := filepath.Abs("../../examples/07_worker_python")
	if err != nil {
		t.Fatal(err)
	}
	v := newVictim(t, "steps.asl.json")
	store, err := sqlstore.Open(t.Context(), v.db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	server := v.ebb("EBB_LOG_LEVEL=off", "serve", "--listen", "127.0.0.1:0", filepath.Join(example, "checkout.asl.json"))
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(said).ReadString('\n')
	address := regexp.MustCompile(`http://[0-9.:]+`).FindString(first)
	if err != nil || address == "" {
		t.Fatalf("it said %q (%v)", first, err)
	}
	worker := exec.CommandContext(context.WithoutCancel(t.Context()), python, filepath.Join(example, "worker.py"), address)
	worker.Stderr = t.Output()
	out, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Kill() // it has no end of its own
		_ = worker.Wait()         // it was killed
	}()
	board := jobs.New(store, jobs.Policy{})
	for id, total := range map[string]int{"small": 10, "large": 5000} {
		if _, err := board.Post(t.Context(), jobs.Job{ID: id, Flow: "checkout", Input: map[string]int{"total": total}}); err != nil {
			t.Fatal(err)
		}
	}
	var did []string
	lines := bufio.NewReader(out)
	for range 5 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", did, err)
		}
		did = append(did, strings.TrimSpace(line))
	}
	slices.Sort(did)
	want := []string{"do large/Charge/0", "do large/Reserve/0", "do small/Charge/0", "do small/Reserve/0", "undo large/Reserve/0/revert"}
	if diff := cmp.Diff(want, did); diff != "" {
		t.Errorf("it did (-want +got):\n%s", diff)
	}
	for id, state := range map[string]states.Flow{"small": states.FlowSuccess, "large": states.FlowReverted} {
		waitForJob(t, store, id, states.JobComplete)
		run, err := store.Run(t.Context(), id)
		if err != nil || run.State != state {
			t.Errorf("%s is %v (%v), want %v", id, run.State, err, state)
		}
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("it drained, and exited with %v", err)
	}
}
