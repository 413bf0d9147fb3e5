package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// oddMachine has names with the characters that paths use, and each kind of path. REVERT is how the last task is undone,
// and END its end.
const oddMachine = `{"StartAt": "Take stock", "States": {
	"Take stock": {"Type": "Task", "Resource": "exec:true", "Revert": "exec:true", "ResultPath": null, "Next": "a/b[0]#2@1~"},
	"a/b[0]#2@1~": {"Type": "Task", "Resource": "exec:true", "Revert": "exec:true", "ResultPath": null, "Next": "Fork"},
	"Fork": {"Type": "Parallel", "ResultPath": null, "Next": "Loop", "Branches": [
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "exec:true", "Revert": "exec:true", "Next": "it's"},
			"it's": {"Type": "Pass", "End": true}}},
		{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.list", "End": true, "ItemProcessor": {"StartAt": "C", "States": {
			"C": {"Type": "Task", "Resource": "exec:true", "End": true}}}}}}]},
	"Loop": {"Type": "Task", "Resource": "exec:true", "Revert": "exec:REVERT", "ResultPath": null, "Next": "Count"},
	"Count": {"Type": "Pass", "Parameters": {"list.$": "$.list", "i.$": "States.MathAdd($.i, 1)"}, "Next": "More"},
	"More": {"Type": "Choice", "Choices": [{"Variable": "$.i", "NumericLessThan": 2, "Next": "Loop"}], "Default": "Last"},
	"Last": {"Type": "Task", "Resource": "exec:END", "End": true}}}`

// TestPathsOfViews passes each path that a view prints to each command that takes a path. The command is carried out, or
// refused with a reason, and each command that a refusal or a view names is not refused itself.
func TestPathsOfViews(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs of the machine are those of Unix")
	}
	dir := t.TempDir()
	p := &pathTest{t, filepath.Join(dir, "ebb.db"), map[string]bool{}}
	for id, how := range map[string][2]string{"succeeds": {"true", "true"}, "is undone": {"true", "false"}, "stuck": {"false", "false"}} {
		file := filepath.Join(dir, "odd.asl.json")
		if err := os.WriteFile(file, []byte(strings.NewReplacer("REVERT", how[0], "END", how[1]).Replace(oddMachine)), 0o600); err != nil {
			t.Fatal(err)
		}
		p.call(p.file, "run", "--id", id, "-i", `{"list": [1, 2], "i": 0}`, file)
		p.passAll(id)
	}
	p.runGo("go")
	p.passAll("go")
}

type pathTest struct {
	*testing.T

	file  string          // the database
	hints map[string]bool // commands that were tried
}

// runGo runs a flow in Go that has a list and a run of its own, and whose undo fails there.
func (p *pathTest) runGo(id string) {
	p.Helper()
	does := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	undoes := func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil }
	failed := errors.New("it failed")
	list := atom.NewKey[[]string]("list")
	pick := atom.Pair("pick", func(_ context.Context, s string) (string, error) { return s, nil },
		func(context.Context, string, atom.Outcome[string]) error { return nil })
	box := atom.Pair("box", does, func(context.Context, struct{}, atom.Outcome[struct{}]) error { return failed })
	root := flow.Linear("order", atom.Pair("reserve it", does, undoes), atom.Func("charge", does), flow.Each("picked", list, pick),
		flow.Run[struct{}, struct{}]("parcel", flow.Linear("boxing", box, atom.Func("label", does))),
		atom.Pair("ship", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, failed }, undoes))
	store, err := sqlstore.Open(p.Context(), "sqlite:"+p.file)
	if err != nil {
		p.Fatal(err)
	}
	eng, err := engine.New(root, store, engine.WithInputs(list))
	if err != nil {
		p.Fatal(err)
	}
	if _, err := eng.Run(p.Context(), id, engine.With(list, []string{"x", "y"})); err == nil {
		p.Error("the undo did not fail")
	}
	if err := store.Close(); err != nil {
		p.Error(err)
	}
}

// passAll passes all paths of a run to all commands.
func (p *pathTest) passAll(id string) {
	p.Helper()
	var paths []string
	for _, view := range [][]string{{"show", id, "-o", "json"}, {"history", id, "-o", "json"}, {"why", id, "-o", "json"}} {
		_, out := p.call(p.file, view...)
		for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				p.Fatalf("%q: %v", view, err)
			}
			paths = pathsIn(v, paths)
		}
	}
	_, shown := p.call(p.file, "show", id)
	for _, line := range undoneLine.FindAllStringSubmatch(shown, -1) {
		paths = append(paths, line[1])
	}
	slices.Sort(paths)
	if paths = slices.Compact(paths); len(paths) < 6 {
		p.Fatalf("%s has the paths %q", id, paths)
	}
	for _, view := range [][]string{{"show", id}, {"why", id}} {
		_, out := p.call(p.file, view...)
		p.try(view, out)
	}
	for _, path := range paths {
		if status, out := p.call(p.file, "show", id, "--state", path); status != exit.Success || strings.Contains(out, "has not been in") {
			p.Errorf("ebb show --state %q: %d, %s", path, status, out)
		}
		for _, args := range [][]string{
			{"revert", id, "--dry-run", "--to", path},
			{"revert", id, "--to", path},
			{"skip", id, path},
			{"retry", "--revert", id, path},
			{"retry", id, "--from", path},
		} {
			if id == "go" {
				if status, _ := p.call(p.copied(), append(args, "--no-wait")...); status == exit.Success {
					continue // the program judges it
				}
			}
			status, out := p.call(p.copied(), args...)
			if notThere.MatchString(out) || status == exit.NotFound ||
				status == exit.Usage && !strings.Contains(out, id) {
				p.Errorf("ebb %q: %d, %s", args, status, out)
			}
			p.try(args, out)
		}
	}
}

// pathsIn adds the paths of atoms in a JSON value.
func pathsIn(v any, paths []string) []string {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			paths = pathsIn(one, paths)
		}
	case map[string]any:
		if path, is := v["path"].(string); is && path != "" && path != "/" {
			paths = append(paths, path)
		}
		for _, one := range v {
			paths = pathsIn(one, paths)
		}
	}
	return paths
}

var (
	hint       = regexp.MustCompile(`ebb (?:retry|skip|revert|show|why|resume|signal|complete) (?:'(?:[^']|'\\'')*'|[^;,)\n' ])+(?: (?:'(?:[^']|'\\'')*'|[^;,)\n' ])+)*`)
	quoted     = regexp.MustCompile(`'((?:[^']|'\\'')*)'|([^ ']+)`)
	notThere   = regexp.MustCompile(`unknown|there is no (atom|state|step|run|path)`)
	undoneLine = regexp.MustCompile(`(?m)^  [^ \n] (.+?)  +[A-Z_]+ `) // of the list "undone, last first"
	prose      = regexp.MustCompile(` (?:retries|counts|lists|says|shows|undoes|resumes) .*`)
)

// try calls the commands that a text names.
func (p *pathTest) try(from []string, text string) {
	p.Helper()
	for _, command := range hint.FindAllString(text, -1) {
		command = prose.ReplaceAllString(command+" ", "")
		if p.hints[command] {
			continue
		}
		p.hints[command] = true
		var args []string
		for _, word := range quoted.FindAllStringSubmatch(strings.TrimPrefix(command, "ebb "), -1) {
			args = append(args, strings.ReplaceAll(word[1], `'\''`, `'`)+word[2])
		}
		if status, out := p.call(p.copied(), args...); status == exit.Usage || status == exit.NotFound {
			p.Errorf("ebb %q names %q, which exits with %d: %s", from, command, status, out)
		}
	}
}

// copied returns a copy of the database.
func (p *pathTest) copied() string {
	p.Helper()
	text, err := os.ReadFile(p.file)
	if err != nil {
		p.Fatal(err)
	}
	file := filepath.Join(p.TempDir(), "ebb.db")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.Fatal(err)
	}
	return file
}

// call calls the command and returns its exit status and output.
func (p *pathTest) call(file string, args ...string) (status int, said string) {
	var out, errs bytes.Buffer
	status = execute(p.Context(), append([]string{"--dsn", "sqlite:" + file}, args...), strings.NewReader(""), &out, &errs)
	return status, out.String() + errs.String()
}
