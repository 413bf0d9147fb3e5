package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/command"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// hostile is a name that clears a screen, forges a line, and reverses the text after it.
const hostile = "h\x1b[2J\x1b]0;t\a\nebb: all is well\r\u009b31m\u202e\u2066\u200b\u2028\U000e0041\x7f"

// turned is what of it the name of a state may have.
const turned = "h\u202e\u2066\u200b\u2028\U000e0041"

// TestHostileNames gives names that a terminal would interpret to all commands, as their arguments and as each of their flags, and has
// them in all that a database and a definition hold. No command shows them as they are, nor begins a line with them.
//
// Attack (Output and secrets): Control, bidi or zero-width characters in IDs, labels, names, arguments and flags, on
// every command.
// Result: Text and JSON output escape them. No line of an error can pass for another.
// Also: `internal/visible: FuzzVisible`.
//
// Attack (Output and secrets): Control, bidi or zero-width characters in the ID or file name of a new run, job or
// schedule.
// Result: Refused with 2. A store accepts such IDs of child runs and Go programs.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files cannot have such names")
	}
	h := newHostileDatabase(t)
	for _, file := range []string{h.definition, h.named, h.broken} {
		h.call(t, "run", file)
		h.call(t, "run", "--id", hostile, file)
		h.call(t, "run", "--mock", file, file)
		h.call(t, "serve", "--check", "--config", file, file)
		h.call(t, "serve", "--check", "--keys", file, file)
		h.call(t, "post", file)
		h.call(t, "schedule", "add", hostile, "@daily", file)
		for _, format := range []string{"dot", "mermaid"} {
			h.call(t, "graph", "--format", format, file)
		}
	}
	if h.call(t, "run", h.named) != exit.Usage || h.call(t, "schedule", "add", hostile, "@daily", h.definition) != exit.Usage {
		t.Error("something new got a name that cannot be seen")
	}
	for _, run := range []string{h.run, hostile} {
		for _, file := range []string{h.definition, h.named} {
			h.call(t, "signal", run, hostile, "--data", "@"+file)
			h.call(t, "complete", run, "--result", "@"+file)
			h.call(t, "retry", run, "--input", "@"+file)
		}
	}
	var sweep func(cmd *cobra.Command)
	sweep = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			sweep(sub)
		}
		path := strings.Fields(cmd.CommandPath())[1:]
		h.call(t, path...)
		for n := 1; n <= 3 && cmd.Name() != "backup"; n++ { // which would make a file of that name here
			for _, arg := range []string{hostile, h.run, h.definition} {
				h.call(t, slices.Concat(path, slices.Repeat([]string{arg}, n))...)
			}
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { h.call(t, slices.Concat(path, []string{"--" + f.Name + "=" + hostile, h.run})...) })
	}
	sweep(command.Root(session.New(nil, nil, nil)))
	command.Root(session.New(nil, nil, nil)).PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "dsn" {
			h.call(t, "list", "--"+f.Name+"="+hostile)
		}
	})
	h.call(t, "backup", filepath.Join(t.TempDir(), hostile))
	h.call(t, hostile)
	h.call(t, "--"+hostile)
	h.call(t, "list", "--dsn", "sqlite:"+filepath.Join(t.TempDir(), hostile))
	h.call(t, "list", "--dsn", "postgres://"+hostile)
	if len(h.called) < 30 {
		t.Errorf("only %d commands were called", len(h.called))
	}
}

type hostileDatabase struct {
	dsn        string
	run        string // id of a run with hostile names in it
	definition string // its file
	named      string // a file with a hostile name
	broken     string // one that is no definition, for its content
	called     map[string]bool
	said       string // to standard error by the last call
}

func newHostileDatabase(t *testing.T) *hostileDatabase {
	t.Helper()
	dir := t.TempDir()
	h := &hostileDatabase{
		dsn: "sqlite:" + filepath.Join(dir, "ebb.db"), run: "r", called: map[string]bool{},
		definition: filepath.Join(dir, "ok.asl.json"), named: filepath.Join(dir, hostile[:1]+strings.ReplaceAll(hostile[1:], "/", "")), broken: filepath.Join(dir, "broken.json"),
	}
	name, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	definition := `{"StartAt":NAME,"States":{NAME:{"Type":"Pass","Next":"Next"},"Next":{"Type":"Task","Resource":"exec:./fail","End":true}}}`
	for file, text := range map[string]string{
		h.definition:               strings.ReplaceAll(definition, "NAME", `"`+turned+`"`),
		h.named:                    strings.ReplaceAll(definition, "NAME", `"`+turned+`"`),
		h.broken:                   `{"StartAt":` + hostile + `,"States":{}}`,
		filepath.Join(dir, "fail"): "#!/bin/sh\nprintf '" + hostile + "' >&2; exit 1\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.call(t, "run", "--id", h.run, "--label", "k="+hostile, "--input", `{"a":`+string(name)+`}`, h.definition); got != exit.Failure {
		t.Fatalf("the run exits with %d: %s", got, h.said)
	}
	store, err := sqlstore.Open(t.Context(), h.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	value := atom.FromJSON(name)
	labels := map[string]string{hostile: hostile, backend.NeedLabel + hostile: hostile}
	now := time.Now()
	for what, err := range map[string]error{
		"run": store.Create(t.Context(), storage.Run{ID: hostile, Flow: hostile, Labels: labels, Input: storage.Held{Data: value}, Due: now.Add(-time.Hour)}),
		"messages": store.Send(t.Context(), storage.Message{Run: hostile, Kind: "signal", Name: hostile, Key: hostile, Body: value, Sent: now},
			storage.Message{Run: h.run, Kind: hostile, Name: hostile, Body: value, Sent: now}),
		"job":      store.PostJob(t.Context(), storage.Job{ID: hostile, Run: hostile, Flow: hostile, Labels: labels, RunLabels: labels, Created: now.Add(-time.Hour)}),
		"limit":    store.SetLimit(t.Context(), storage.Limit{Flow: "f", Label: hostile, Runs: 1}),
		"schedule": store.PutSchedule(t.Context(), backend.Schedule{ID: hostile, Spec: "@daily", Flow: hostile, Needs: labels, Labels: labels, CatchUp: 1, Next: now}),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	return h
}

// call calls the command, as text, as JSON, and with a log.
func (h *hostileDatabase) call(t *testing.T, args ...string) (status int) {
	t.Helper()
	if len(args) > 0 {
		h.called[args[0]] = true
	}
	if len(args) > 1 && args[0] == "man" { // it writes into the folder that it is given
		args = slices.Concat(args[:1], []string{filepath.Join(filepath.Dir(h.definition), args[1])}, args[2:])
	}
	for _, how := range [][]string{{"--log-level", "debug"}, {"-o", "json"}} {
		var out, errs bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		if slices.Contains([]string{"serve", "emulate", "console", "bench"}, first(args)) && !slices.Contains(args, "--check") {
			cancel() // it must start, and not continue
		}
		all := slices.Concat(how, args)
		if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--dsn") }) {
			all = append([]string{"--dsn", h.dsn}, all...)
		}
		got := execute(ctx, all, strings.NewReader(hostile), &out, &errs)
		cancel()
		h.said = errs.String()
		if how[0] == "--log-level" {
			status = got
		}
		for stream, text := range map[string]string{"stdout": out.String(), "stderr": errs.String()} {
			for line := range strings.Lines(text) {
				if shown := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", ""); !visible.All(shown) {
					t.Errorf("ebb %q shows on %s: %q", args, stream, line)
				}
				if strings.HasPrefix(line, "ebb: all is well") {
					t.Errorf("ebb %q has a line forged on %s: %q", args, stream, text)
				}
			}
		}
	}
	return status
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
