package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// logged returns the log entries of a run from a level on: one line each, in JSON without the time.
func logged(t *testing.T, level slog.Level, root flow.Node, opts ...engine.Option) string {
	t.Helper()
	var out bytes.Buffer
	plain := func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "logger":
			return slog.Attr{}
		case "duration":
			if _, err := time.ParseDuration(a.Value.String()); err != nil {
				t.Errorf("a duration without a unit: %v", a.Value)
			}
			return slog.String("duration", "D")
		case "due":
			return slog.String("due", "T")
		}
		return a
	}
	l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: plain}))
	eng, err := engine.New(root, memstore.New(), append(opts, engine.WithLogger(engine.FromSlog(l)), engine.WithParallelism(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); errors.As(err, new(*engine.StoreError)) {
		t.Fatal(err)
	}
	table := logTable(t)
	for line := range strings.Lines(out.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(line, err)
		}
		if row := table[fmt.Sprint(entry["msg"])]; row.event == "" {
			t.Errorf("docs/reference/log-events.md does not have this event: %s", line)
		} else if !strings.Contains(row.levels, strings.ToLower(fmt.Sprint(entry["level"]))) {
			t.Errorf("docs/reference/log-events.md has other levels than this: %s", line)
		}
		for key, value := range entry {
			attributes := strings.Split(table[fmt.Sprint(entry["msg"])].attributes, ", ")
			if key != "msg" && key != "level" && !slices.Contains(attributes, key) {
				t.Errorf("docs/reference/log-events.md does not have the attribute %s: %s", key, line)
			}
			if value == nil || value == "" || value == 0.0 {
				t.Errorf("the attribute %s is empty: %s", key, line)
			}
		}
	}
	return out.String()
}

// A logRow is a row of the table of log events.
type logRow struct{ event, levels, attributes string }

// logTable returns the table of docs/reference/log-events.md, by event.
func logTable(t *testing.T) map[string]logRow {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/log-events.md")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]logRow{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") && len(cells) == 4 {
			event := strings.Trim(cells[0], "| `")
			table[event] = logRow{event, cells[1], cells[2]}
		}
	}
	return table
}

// TestLogOfRuns: runs log named events with their attributes. A failure is logged from warn on, with code, message and path.
func TestLogOfRuns(t *testing.T) {
	t.Parallel()
	pay := atom.Pair("pay", func(context.Context, struct{}) (int, error) { return 1, nil },
		func(context.Context, struct{}, atom.Outcome[int]) error { return nil }, atom.As("paid"))
	ship := atom.Func("ship", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, atom.Errorf("Sold", "nothing is left")
	}, atom.Attempts(2, atom.Constant(time.Nanosecond)))
	want := `{"level":"INFO","msg":"run.started","run":"r","flow":"f"}
{"level":"DEBUG","msg":"atom.started","run":"r","flow":"f","path":"pay","attempt":1}
{"level":"DEBUG","msg":"atom.succeeded","run":"r","flow":"f","path":"pay","attempt":1,"duration":"D"}
{"level":"DEBUG","msg":"atom.started","run":"r","flow":"f","path":"ship","attempt":1}
{"level":"WARN","msg":"atom.retrying","run":"r","flow":"f","path":"ship","attempt":1,"due":"T","code":"Sold","message":"nothing is left"}
{"level":"DEBUG","msg":"atom.started","run":"r","flow":"f","path":"ship","attempt":2}
{"level":"WARN","msg":"atom.failed","run":"r","flow":"f","path":"ship","attempt":2,"duration":"D","code":"Sold","message":"nothing is left"}
{"level":"DEBUG","msg":"atom.changed","run":"r","flow":"f","path":"ship","state":"REVERTING","attempt":2}
{"level":"DEBUG","msg":"atom.changed","run":"r","flow":"f","path":"ship","state":"REVERTED","attempt":2,"duration":"D"}
{"level":"INFO","msg":"atom.reverting","run":"r","flow":"f","path":"pay","attempt":1}
{"level":"INFO","msg":"atom.reverted","run":"r","flow":"f","path":"pay","attempt":1,"duration":"D"}
{"level":"WARN","msg":"run.ended","run":"r","flow":"f","state":"REVERTED","duration":"D","code":"Sold","message":"nothing is left","path":"ship"}
`
	if diff := cmp.Diff(want, logged(t, slog.LevelDebug, flow.Linear("f", pay, ship))); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	warnings := ""
	for line := range strings.Lines(want) {
		if strings.Contains(line, `"WARN"`) {
			warnings += line
		}
	}
	if diff := cmp.Diff(warnings, logged(t, slog.LevelWarn, flow.Linear("f", pay, ship))); diff != "" {
		t.Errorf("log from warn on (-want +got):\n%s", diff)
	}
}

// TestLogOfFailedUndo: the end of a run whose undo failed says that a person must decide.
func TestLogOfFailedUndo(t *testing.T) {
	t.Parallel()
	pay := atom.Pair("pay", func(context.Context, struct{}) (int, error) { return 1, nil },
		func(context.Context, struct{}, atom.Outcome[int]) error { return atom.Errorf("Bank", "closed") }, atom.As("paid"))
	ship := atom.Func("ship", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })
	got := logged(t, slog.LevelWarn, flow.Linear("f", pay, ship))
	for _, want := range []string{
		`{"level":"ERROR","msg":"atom.revert_failed","run":"r","flow":"f","path":"pay","attempt":1,"duration":"D","code":"Bank","message":"closed"}`,
		`"needs_person":true`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the log has no %s:\n%s", want, got)
		}
	}
}

// TestLogOfFailedState: the end of a run of a definition has the path of the state whose failure ended the run.
func TestLogOfFailedState(t *testing.T) {
	t.Parallel()
	for want, states := range map[string]string{
		`"path":"No"`: `{"No": {"Type": "Fail", "Error": "Sold"}}`,
		`"path":"Bad"`: `{"No": {"Type": "Pass", "Next": "Bad"}, "Bad": {"Type": "Choice",
			"Choices": [{"Variable": "$.x", "IsNull": true, "Next": "OK"}]}, "OK": {"Type": "Succeed"}}`,
		`"path":"W#2"`: `{"No": {"Type": "Pass", "Result": 1, "ResultPath": "$.s", "Next": "W"},
			"W": {"Type": "Wait", "SecondsPath": "$.s", "Next": "Bad"},
			"Bad": {"Type": "Choice", "Default": "OK", "Choices": [{"Variable": "$.s", "NumericEquals": 1, "Next": "X"}]},
			"X": {"Type": "Pass", "Result": "x", "ResultPath": "$.s", "Next": "W"}, "OK": {"Type": "Succeed"}}`,
		`"path":"P"`: `{"No": {"Type": "Pass", "Next": "P"}, "P": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "In", "States": {"In": {"Type": "Wait", "Seconds": 0, "Next": "F"}, "F": {"Type": "Fail"}}}]}}`,
	} {
		m, err := asl.Parse("m", []byte(`{"StartAt": "No", "States": `+states+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var log string
		synctest.Test(t, func(t *testing.T) { log = logged(t, slog.LevelWarn, m.Flow()) })
		if !strings.Contains(log, `"msg":"run.ended"`) || !strings.Contains(log, want) {
			t.Errorf("no %s in %s", want, log)
		}
	}
}

// TestLogOfDefinition: the entries of a run of a definition, with its timers and its structure, agree with the table.
func TestLogOfDefinition(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "Next": "W"},
		"W": {"Type": "Wait", "Seconds": 1, "Next": "P"},
		"P": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}},
			{"StartAt": "V", "States": {"V": {"Type": "Wait", "Seconds": 9, "End": true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		text := logged(t, slog.LevelDebug, m.Flow(), engine.WithTasks(parts{&stage{}}))
		for _, entry := range []string{
			`"msg":"atom.started","run":"r","flow":"m","path":"W","attempt":1,"due":"T"}`,
			`{"level":"DEBUG","msg":"atom.failed","run":"r","flow":"m","path":"P"`,
			`{"level":"INFO","msg":"atom.reverted","run":"r","flow":"m","path":"A"`,
		} {
			if !strings.Contains(text, entry) {
				t.Errorf("no entry %s in\n%s", entry, text)
			}
		}
	})
}

// TestLogOfRefusedStart: a start that is refused, since the run exists, is for its caller: the log names no start and no
// error.
func TestLogOfRefusedStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := engine.FromSlog(slog.New(slog.NewTextHandler(&out, nil)))
		s := newStarter(t, memstore.New(), engine.WithEngine(engine.WithLogger(log))).serve()
		defer s.stop()
		if err := s.start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // it ends
		if err := s.start(t.Context(), "r"); !errors.Is(err, storage.ErrExists) {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := out.String(); strings.Count(got, "msg=run.started") != 1 || strings.Contains(got, "run.stopped") {
			t.Errorf("the log is\n%s", got)
		}
	})
}

// TestLogOfManyItems: however many items fail or are undone, the log has ten lines of one event and level about them, and
// one that counts the others, also if the items are runs of their own.
func TestLogOfManyItems(t *testing.T) {
	t.Parallel()
	list := atom.Func("items", func(context.Context, struct{}) ([]int, error) { return make([]int, 30), nil },
		atom.As("items"))
	items := atom.NewKey[[]int]("items")
	type item struct{}
	fails := atom.Func("work", func(context.Context, item) (int, error) { return 0, errors.New("no") })
	works := atom.Pair("work", func(context.Context, item) (int, error) { return 1, nil },
		func(context.Context, item, atom.Outcome[int]) error { return nil })
	var calls atomic.Int32
	stays := atom.Func("work", func(context.Context, item) (int, error) {
		if calls.Add(1) == 30 {
			return 0, errors.New("no")
		}
		return 1, nil
	})
	after := atom.Func("after", func(context.Context, item) (int, error) { return 0, errors.New("no") })
	each := func(body, after flow.Node) flow.Node {
		return flow.Linear("f", list, flow.Each("each", items, body).Tolerate(30), after)
	}
	m, err := asl.Parse("m", []byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
		"QueryLanguage": "JSONata", "Items": "{% [1..30] %}", "ItemProcessor": {"StartAt": "A", "States": {
			"A": {"Type": "Task", "Resource": "do:no", "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}]},
			"B": {"Type": "Succeed"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	no := parts{&stage{do: map[string]func(context.Context, int) error{
		"no": func(context.Context, int) error { return errors.New("no") },
	}}}
	for name, c := range map[string]struct {
		root flow.Node
		want []string
	}{
		"failures of atoms": {each(fails, works), []string{"WARN atom.failed 20"}},
		"failures of flows": {each(flow.Linear("item", fails), works), []string{
			"WARN atom.failed 50", "WARN run.ended 20", "INFO run.started 20",
		}},
		"failures of a Map":  {m.Flow(), []string{"WARN atom.failed 20"}},
		"undo":               {each(works, after), []string{"INFO atom.reverted 20", "INFO atom.reverting 20"}},
		"undo of what stays": {flow.Linear("f", list, flow.Each("each", items, stays)), []string{"INFO atom.stays_done 19"}},
	} {
		lines, left := map[string]int{}, []string{}
		for line := range strings.Lines(logged(t, slog.LevelInfo, c.root, engine.WithTasks(no))) {
			var entry struct {
				Level, Msg, Event string
				Count             int
			}
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Fatal(err)
			}
			lines[entry.Level+" "+entry.Msg]++
			if entry.Event != "" {
				left = append(left, fmt.Sprint(entry.Level, " ", entry.Event, " ", entry.Count))
			}
		}
		if diff := cmp.Diff(c.want, left); diff != "" {
			t.Errorf("%s: lines left out (-want +got):\n%s", name, diff)
		}
		for line, n := range lines {
			if n > 12 { // two are about the run around
				t.Errorf("%s: %d lines of %s", name, n, line)
			}
		}
	}
}

// TestLogOfServedItems: a server also bounds the log of items whose runs it takes up one by one, because they wait.
func TestLogOfServedItems(t *testing.T) {
	t.Parallel()
	items := atom.NewKey[[]int]("items")
	list := atom.Func("list", func(context.Context, struct{}) ([]int, error) { return make([]int, 30), nil }, atom.As("items"))
	fails := atom.Func("work", func(context.Context, struct{}) (int, error) { return 0, errors.New("no") },
		atom.Attempts(2, atom.Constant(time.Minute)))
	root := flow.Linear("f", list, flow.Each("each", items, flow.Linear("item", fails)).Tolerate(30).WithParallelism(30))
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := engine.FromSlog(slog.New(slog.NewTextHandler(&out, nil)))
		eng, err := engine.New(root, memstore.New(), engine.WithLogger(log))
		if err != nil {
			t.Fatal(err)
		}
		if err := eng.Start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if err := eng.Serve(ctx); err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"atom.retrying", "atom.failed", "run.started", "run.ended"} {
			if n := strings.Count(out.String(), "msg="+event+" "); n > 12 {
				t.Errorf("%d lines of %s", n, event)
			}
		}
	})
}
