//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// endlessMachine never waits for anything: its Default goes back.
const endlessMachine = `{LIMIT"StartAt": "Work", "States": {
	"Work": {"Type": "Pass", "Result": {"n": 1}, "Next": "More"},
	"More": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 2, "Next": "Done"}], "Default": "Work"},
	"Done": {"Type": "Succeed"}}}`

// A request is a request to an endless machine while a process drives it.
type request struct {
	name    string
	serve   bool      // the process is one of ebb serve, else of ebb run
	limit   string    // of the machine
	signal  os.Signal // to the process
	command string    // from another process
	exit    int       // of the process, if it must end
	state   states.Flow
	outcome storage.Outcome
}

// TestComputingProcessHears drives a machine that only computes by real processes, and
// wants something of them: each does it, and the run is found as it should be.
//
// Attack (Runs that grow or compute without end): A machine or Go grower that computes and never waits.
// Result: Every 100 ms the run checks for commands, messages, timers, its deadline and a process stop.
// Also: `engine: TestComputingRunHears`, `TestComputingProperty`.
func TestComputingProcessHears(t *testing.T) {
	t.Parallel()
	const limit = `"TimeoutSeconds": 2, `
	for _, r := range []request{
		{name: "run/SIGINT", signal: os.Interrupt, exit: exit.Suspended, state: states.FlowSuspended},
		{name: "run/SIGTERM", signal: syscall.SIGTERM, exit: exit.Suspended, state: states.FlowRunning},
		{name: "run/suspend", command: "suspend", exit: exit.Suspended, state: states.FlowSuspended},
		{name: "run/cancel", command: "cancel", exit: exit.Failure, state: states.FlowFailure, outcome: storage.Cancelled},
		{name: "run/deadline", limit: limit, exit: exit.Failure, state: states.FlowFailure, outcome: storage.TimedOut},
		{name: "serve/SIGINT", serve: true, signal: os.Interrupt, state: states.FlowRunning},
		{name: "serve/SIGTERM", serve: true, signal: syscall.SIGTERM, state: states.FlowRunning},
		{name: "serve/suspend", serve: true, command: "suspend", state: states.FlowSuspended},
		{name: "serve/cancel", serve: true, command: "cancel", state: states.FlowFailure, outcome: storage.Cancelled},
		{name: "serve/deadline", serve: true, limit: limit, state: states.FlowFailure, outcome: storage.TimedOut},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t, "steps.asl.json")
			v.file = filepath.Join(v.dir, "endless.asl.json")
			if err := os.WriteFile(v.file, []byte(strings.Replace(endlessMachine, "LIMIT", r.limit, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			r.make(t, v)
		})
	}
}

// make makes the request once the machine has gone round for a while.
func (r *request) make(t *testing.T, v *victim) {
	t.Helper()
	drives := v.begin("")
	if r.serve {
		if out, err := v.ebb("", "run", "--detach", "--id", crashRun, v.file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		drives = v.ebb("", "serve", "--listen", "off", "--drain", "1h")
	}
	exited := watch(t, drives)
	v.until(t, func(run *storage.Run) bool { return run.Entries > 5000 || run.State.Ended() })
	if r.signal != nil {
		if err := drives.Process.Signal(r.signal); err != nil {
			t.Fatal(err)
		}
	}
	if r.command != "" {
		out, err := v.ebb("", r.command, crashRun).CombinedOutput()
		t.Logf("%v: %s", err, out)
	}
	if !r.serve || r.signal != nil {
		select {
		case <-exited:
			if got := drives.ProcessState.ExitCode(); got != r.exit {
				t.Errorf("exit %d", got)
			}
		case <-time.After(time.Minute):
			t.Fatal("the process goes on")
		}
	}
	run := v.until(t, func(run *storage.Run) bool { return run.Owner == "" })
	if run.State != r.state || run.Outcome != r.outcome {
		t.Errorf("it is %v, %v", run.State, run.Outcome)
	}
	if run.State.Ended() {
		return
	}
	if out, err := v.ebb("", "cancel", crashRun).CombinedOutput(); err != nil {
		t.Errorf("it cannot be cancelled afterwards: %v: %s", err, out)
	}
}

// watch starts a process, and returns a channel that is closed when it has exited. The process ends with the test.
func watch(t *testing.T, cmd *exec.Cmd) <-chan struct{} {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the caller that waits checks the exit status
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if <-exited; t.Failed() {
			t.Log(said.String())
		}
	})
	return exited
}

// until waits until the run is so, as the store tells, and returns it.
func (v *victim) until(t *testing.T, is func(run *storage.Run) bool) storage.Run {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), v.db)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	over := time.After(time.Minute)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		run, err := store.Run(t.Context(), crashRun)
		if err == nil && is(&run) {
			return run
		}
		select {
		case <-look.C:
		case <-over:
			t.Fatalf("the run is %v, owner %q, with %d lines: %v", run.State, run.Owner, run.Entries, err)
		}
	}
}
