package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
)

// TestLostOutput calls each command that shows something in a process of its own, with a full device as standard output, and
// with a pipe that no process reads. A command that shows data exits with 7. A command that drives a run drives it to
// its end and exits with the status of the run. If the reader closes the pipe, the command prints no error.
//
// Attack (Output and secrets): A full device or a closed pipe as standard output.
// Result: The exit status reports it; a run still ends.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /dev/full")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, text := range map[string]string{
		"ok.asl.json":   `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},"B":{"Type":"Task","Resource":"exec:./out.sh","End":true}}}`,
		"fail.asl.json": `{"StartAt":"A","States":{"A":{"Type":"Fail","Error":"E"}}}`,
		"ok.test.yaml":  "cases: [{name: a, mocks: {B: {result: 1}}}]",
		"state.json":    `{"Type":"Pass","End":true}`,
		"out.sh":        "#!/bin/sh\nyes | head -1 >/dev/null\necho 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	call := func(out *os.File, args ...string) (status int, said string) {
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), self, args...)
		cmd.Args[0], cmd.Dir, cmd.Stdout, cmd.Stderr = "ebb", dir, out, &errs
		_ = cmd.Run() // its status tells
		return cmd.ProcessState.ExitCode(), errs.String()
	}
	for _, args := range [][]string{{"run", "--id", "r", "ok.asl.json"}, {"schedule", "add", "s", "@daily", "ok.asl.json"}, {"limit", "5"}, {"post", "--id", "j", "ok.asl.json"}} {
		if status, said := call(nil, args...); status != exit.Success {
			t.Fatalf("ebb %v exits with %d: %s", args, status, said)
		}
	}
	drive := map[string]int{
		"run ok.asl.json": exit.Success, "run -o json ok.asl.json": exit.Success, "run fail.asl.json": exit.Failure, "run --expect FAILURE fail.asl.json": exit.Success, "resume r": exit.Success,
		"demo": exit.Success,
	}
	show := []string{
		"run --detach ok.asl.json", "post ok.asl.json", "jobs", "jobs -o json", "schedule", "schedule -o json", "schedule add t @daily ok.asl.json", "limit", "limit -o json", "definitions", "definitions -o json", "definitions show ok",
		"show r", "show -o json r", "why r", "why -o json r", "history r", "history -o json r", "history --events r", "audit", "audit -o json", "bulk cancel flow:x", "bulk cancel --dry-run flow:x", "waiting", "waiting -o json", "list", "list -o json", "validate ok.asl.json",
		"validate -o json ok.asl.json", "validate --schema", "graph ok.asl.json", "graph --format dot r", "plain ok.asl.json", "test", "test -o json ok.asl.json", "test-state state.json", "test-state -o json state.json", "prune --dry-run --keep 0s", "backup -o json b.db", "backup b2.db", "migrate status", "doctor",
		"doctor -o json", "version", "version -o json", "top", "processes", "completion bash", "completion zsh", "completion fish", "completion powershell", "help", "--help", "help run", "run --help", "",
	}
	for _, line := range slices.Concat(show, slices.Sorted(maps.Keys(drive))) {
		want, drives := drive[line]
		if !drives {
			want = exit.Unreachable
		}
		args := strings.Fields(line)
		if status, said := call(full, args...); status != want || !strings.Contains(said, "ebb: output cannot be written: ") {
			t.Errorf("ebb %s >/dev/full exits with %d and says %q; want %d", line, status, said, want)
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		status, said := call(writer, strings.Fields(strings.Replace(line, ".db", "-2.db", 1))...)
		_ = writer.Close()
		if status != want || strings.Contains(said, "output cannot be written") != drives {
			t.Errorf("ebb %s to a closed pipe exits with %d and says %q; want %d", line, status, said, want)
		}
	}
	if status, said := call(nil, "list", "-o", "json"); status != exit.Success || strings.Contains(said, "RUNNING") {
		t.Errorf("a run was left: %s", said)
	}
	covered := map[string]bool{}
	for _, line := range slices.Concat(show, []string{"run", "resume", "demo"}) {
		covered[first(strings.Fields(line))] = true
	}
	for _, cmd := range command.Root(session.New(nil, nil, nil)).Commands() {
		// These drive a run as resume does, tell a run something as post does, show nothing but notices, write files, or are
		// topics of help; bench measures for minutes.
		rest := []string{"flags", "man", "suspend", "cancel", "revert", "retry", "skip", "signal", "complete", "serve", "emulate", "console", "bench"}
		if !covered[cmd.Name()] && !slices.Contains(rest, cmd.Name()) {
			t.Errorf("ebb %s was not called", cmd.Name())
		}
	}
}
