//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

func stopSelf() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }

// A speech is the output of a process, which can be read while it is written.
type speech struct {
	lines chan string
	rest  bytes.Buffer
}

func (q *speech) Write(p []byte) (int, error) {
	q.rest.Write(p)
	for bytes.ContainsRune(q.rest.Bytes(), '\n') {
		line, err := q.rest.ReadString('\n')
		if err != nil {
			return 0, err
		}
		q.lines <- line
	}
	return len(p), nil
}

// TestHungProcess follows docs/how-to/operate-runs.md for a process that is stopped during its turn to write. Others
// name the process. Once it is killed, they continue, and its run can be taken over.
//
// Attack (Runs and processes that die): SIGSTOP of a process during its turn to write.
// Result: Bounded: after 2 s, waiting processes, `/readyz` and `ebb doctor` report it with a fix; after 1 min, writes
// fail.
// Also: `storage/sqlstore: TestStoppedInTurn`.
func TestHungProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("this system does not say which process has the turn")
	}
	v := newVictim(t, "steps.asl.json")
	hung := v.begin(killAt + "=stop:sqlstore.commit.before 3")
	if err := hung.Start(); err != nil {
		t.Fatal(err)
	}
	pid := hung.Process.Pid
	defer func() {
		_ = hung.Process.Kill()
		_ = hung.Wait()
	}()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process did not stop: %v, %v", status, err)
	}
	named := fmt.Sprintf("process %d (", pid)

	other := v.ebb("", "run", "--id", "other", v.file)
	said := &speech{lines: make(chan string, 1000)}
	other.Stderr = said
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill() }()
	patience := time.After(3 * time.Minute)
	for found := false; !found; {
		select {
		case line := <-said.lines:
			found = strings.Contains(line, "write.blocked") && strings.Contains(line, named) && strings.Contains(line, "stopped (T)")
		case <-patience:
			t.Fatal("a process that waits does not say for which one")
		}
	}

	out, err := v.ebb("", "doctor").CombinedOutput()
	if exitOf(err) != exit.Failure || !bytes.Contains(out, []byte(named)) || !bytes.Contains(out, fmt.Appendf(nil, "kill -CONT %d", pid)) ||
		!bytes.Contains(out, []byte("was stopped: its runs stand still")) {
		t.Errorf("ebb doctor ends with %v and says\n%s", err, out)
	}
	out, err = v.ebb("", "why", crashRun).CombinedOutput()
	if err != nil || !bytes.Contains(out, fmt.Appendf(nil, "process %d", pid)) {
		t.Errorf("ebb why ends with %v and says\n%s", err, out)
	}

	if out, err := exec.Command("kill", "-9", fmt.Sprint(pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = hung.Wait()
	if err := other.Wait(); exitOf(err) != exit.Reverted { // as these definitions do
		t.Errorf("the process that waited ended with %v", err)
	}
	if out, err := v.ebb("", "resume", crashRun).CombinedOutput(); exitOf(err) != exit.Reverted {
		t.Errorf("ebb resume ends with %v and says\n%s", err, out)
	}
	if out, err := v.ebb("", "doctor").CombinedOutput(); err != nil {
		t.Errorf("ebb doctor ends with %v and says\n%s", err, out)
	}
}

func exitOf(err error) int {
	if exit, is := err.(*exec.ExitError); is { //nolint:errorlint // nothing wraps it
		return exit.ExitCode()
	}
	return 0
}
