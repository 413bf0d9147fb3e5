package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// unreliable runs machines whose task do:b fails, blocks or succeeds as the test says.
type unreliable struct {
	eng    *engine.Engine
	stage  *stage
	behave func(ctx context.Context) error
}

func newUnreliable(t *testing.T, machine string, opts ...engine.Option) *unreliable {
	t.Helper()
	m, err := asl.Parse("m", []byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	u := &unreliable{behave: func(context.Context) error { return atom.Errorf("Refused", "not now") }}
	u.stage = &stage{do: script{"b": func(ctx context.Context, _ int) error { return u.behave(ctx) }}}
	u.eng = newEngine(t, m.Flow(), append(opts, engine.WithTasks(parts{u.stage}))...)
	return u
}

// events returns the types of a run's events from a number on, with their numbers and predecessors.
func events(t *testing.T, store backend.Store, id string, from int64) string {
	t.Helper()
	var all []string
	for e, err := range storage.EachEntry(t.Context(), store, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == storage.EntryEvent && e.Number >= from {
			all = append(all, fmt.Sprintf("%d<%d %s", e.Number, e.Prev, e.Type))
		}
	}
	return strings.Join(all, "\n")
}

const retrying = `{"TimeoutSeconds": 60, "StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "do:a", "Next": "B"},
	"B": {"Type": "Task", "Resource": "do:b", "ResultPath": null, "Next": "C",
		"Retry": [{"ErrorEquals": ["Refused"], "MaxAttempts": 1, "IntervalSeconds": 1, "MaxDelaySeconds": 2}]},
	"C": {"Type": "Pass", "Parameters": {"count.$": "$$.Execution.RedriveCount", "at.$": "$$.Execution.RedriveTime"}, "End": true}}}`

// TestReopen reopens a run twice. Its retriers count from 0 each time, its time limit starts again, the history
// continues, and the context object shows it.
func TestReopen(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		u := newUnreliable(t, retrying, opts...)
		if _, err := u.eng.Run(t.Context(), "r"); err == nil {
			t.Fatal("it succeeded")
		}
		time.Sleep(time.Hour)
		if _, err := u.eng.Command(t.Context(), "r", engine.RetryFrom("")); err == nil {
			t.Fatal("it succeeded")
		}
		time.Sleep(time.Hour)
		for path, err := range u.eng.Preview(t.Context(), "r", engine.RetryFrom("")) {
			t.Errorf("it would undo %q: %v", path.Path, err)
		}
		at := time.Now()
		u.behave = func(context.Context) error { return nil }
		res, err := u.eng.Command(t.Context(), "r", engine.RetryFrom(""))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(u.stage.took(), " "); got != "a"+strings.Repeat(" b", 5) {
			t.Errorf("calls %s", got)
		}
		want := `{"count":2,"at":"` + at.UTC().Format("2006-01-02T15:04:05.000Z") + `"}`
		if diff := cmp.Diff(decoded(t, want), decoded(t, res.Output().String())); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		if run, err := u.eng.Store().Run(t.Context(), "r"); err != nil || run.Labels["redriveCount"] != "2" {
			t.Errorf("labels %v: %v", run.Labels, err)
		}
		const history = `14<13 ExecutionFailed
15<14 ExecutionRedriven
16<15 TaskScheduled
17<16 TaskStarted
18<17 TaskFailed
19<18 TaskScheduled
20<19 TaskStarted
21<20 TaskFailed
22<21 ExecutionFailed
23<22 ExecutionRedriven
24<23 TaskScheduled
25<24 TaskStarted
26<25 TaskSucceeded
27<26 TaskStateExited
28<27 PassStateEntered
29<28 PassStateExited
30<29 ExecutionSucceeded`
		if diff := cmp.Diff(history, events(t, u.eng.Store(), "r", 14)); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		b, err := u.eng.Store().Atom(t.Context(), "r", "B")
		if err != nil || b.Incarnation != 2 || b.Attempt != 1 {
			t.Errorf("incarnation %d, attempt %d: %v", b.Incarnation, b.Attempt, err)
		}
	})
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := atom.FromJSON([]byte(text)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReopenTimedOut reopens a run whose deadline has passed. The run has its full time again.
func TestReopenTimedOut(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		u := newUnreliable(t, retrying, opts...)
		u.behave = untilEnded
		res, _ := u.eng.Run(t.Context(), "r")
		if res == nil || res.Run.Outcome != storage.TimedOut {
			t.Fatalf("%+v", res)
		}
		begun := time.Now()
		res, _ = u.eng.Command(t.Context(), "r", engine.RetryFrom(""))
		if res == nil || res.Run.Outcome != storage.TimedOut || time.Since(begun) != time.Minute {
			t.Fatalf("%+v after %v", res, time.Since(begun))
		}
		u.behave = func(context.Context) error { time.Sleep(30 * time.Second); return nil }
		if res, err := u.eng.Command(t.Context(), "r", engine.RetryFrom("")); err != nil || res.Run.Outcome != storage.Succeeded {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

func untilRefused(context.Context, int) error { return atom.Errorf("Refused", "never") }

func untilEnded(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestReopenRefused: runs that cannot be reopened are refused with the reason, and do not change.
//
// Guarantee (G5): A run that cannot be reopened is refused with the reason, unchanged.
func TestReopenRefused(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		undone := newUnreliable(t, `{"StartAt": "A", "States": {
			"A": {"Type": "Task", "Resource": "do:a", "Revert": {"Resource": "undo:a"}, "Next": "B"},
			"B": {"Type": "Task", "Resource": "do:b", "End": true}}}`, opts...).eng
		plain := newUnreliable(t, retrying, opts...).eng
		good := newUnreliable(t, `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "do:a", "End": true}}}`, opts...).eng
		express := engine.Attributes(atom.MustEncode(asl.Attributes{Express: true}))
		other, err := sm4c.Parse("m", []byte(`{"name": "m", "version": "1", "functions": [{"name": "b", "type": "task", "operation": "do:b"}],
			"states": [{"name": "B", "start": true, "enterAction": {"type": "invokeFunction", "functionName": "b", "waitForCompletion": true}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			eng     *engine.Engine
			opts    []engine.RunOption
			command engine.Command
			why     string
		}{
			"undone":    {eng: undone, command: engine.RetryFrom(""), why: "what was undone is never reopened"},
			"succeeded": {eng: good, command: engine.RetryFrom(""), why: "the run has succeeded"},
			"from":      {eng: plain, command: engine.RetryFrom("A"), why: "name no atom"},
			"input":     {eng: plain, command: engine.RetryFrom("", engine.With(atom.NewKey[int]("n"), 1)), why: "keeps its input"},
			"express":   {eng: plain, opts: []engine.RunOption{express}, command: engine.RetryFrom(""), why: "Express"},
			"sm4c":      {eng: newEngine(t, other.Flow(), append(opts, engine.WithTasks(parts{&stage{do: script{"b": untilRefused}}}))...), command: engine.RetryFrom(""), why: "State Machines For Cloud has no way"},
			"other": {
				eng:     newEngine(t, flow.Growing("f", lang(func(*grow.Ask) grow.Growth { return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: "No"}}} })), opts...),
				command: engine.RetryFrom(""), why: "cannot continue a run that has ended",
			},
		} {
			_, _ = c.eng.Run(t.Context(), name, c.opts...)
			before, err := c.eng.Store().Run(t.Context(), name)
			if err != nil {
				t.Fatal(name, err)
			}
			_, err = c.eng.Command(t.Context(), name, c.command)
			if !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", name, err)
			}
			after, err := c.eng.Store().Run(t.Context(), name)
			if err != nil || after.State != before.State || after.Seq != before.Seq {
				t.Errorf("%s: it became %v with commit %d, from %v with %d: %v", name, after.State, after.Seq, before.State, before.Seq, err)
			}
		}
	})
}

// TestReopenMapRun reopens a run with a distributed Map whose second item failed. Only the executions that did not
// succeed continue, and the results are complete.
func TestReopenMapRun(t *testing.T) { //nolint:tparallel // the kinds take turns
	for _, kind := range []string{"STANDARD", "EXPRESS"} {
		t.Run(kind, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				m, err := asl.Parse("m", []byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "MaxConcurrency": 1, "End": true,
					"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "`+kind+`"}, "StartAt": "A", "States": {
						"A": {"Type": "Task", "Resource": "do:a", "ResultPath": null, "Next": "B"},
						"B": {"Type": "Task", "Resource": "do:b", "ResultPath": null, "End": true}}}}}}`))
				if err != nil {
					t.Fatal(err)
				}
				s := &stage{do: script{"b": func(_ context.Context, n int) error {
					if n == 2 {
						return atom.Errorf("Refused", "not now")
					}
					return nil
				}}}
				eng := newEngine(t, m.Flow(), append(opts, engine.WithTasks(parts{s}))...)
				if _, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte("[1, 2, 3]")))); err == nil {
					t.Fatal("it succeeded")
				}
				res, err := eng.Command(t.Context(), "r", engine.RetryFrom(""))
				if err != nil || res.Output().String() != "[1,2,3]" {
					t.Fatalf("%v, %v", res, err)
				}
				calls, child := "a b a b b a b", "r/Each[1]" //nolint:dupword // calls
				if kind == "EXPRESS" {
					calls, child = "a b a b a b a b", "r/Each[1].2"
				}
				if got := strings.Join(s.took(), " "); got != calls {
					t.Errorf("calls %s, want %s", got, calls)
				}
				if run, err := eng.Store().Run(t.Context(), child); err != nil || run.Outcome != storage.Succeeded {
					t.Errorf("run %s: %+v, %v", child, run, err)
				}
				const history = `8<7 ExecutionRedriven
9<5 MapRunRedriven
10<9 MapRunSucceeded
11<10 MapStateSucceeded
12<4 MapStateExited
13<12 ExecutionSucceeded`
				if diff := cmp.Diff(history, events(t, eng.Store(), "r", 8)); diff != "" {
					t.Errorf("history (-want +got):\n%s", diff)
				}
				redriven := strings.Contains(events(t, eng.Store(), child, 1), "ExecutionRedriven")
				if redriven != (kind == "STANDARD") {
					t.Errorf("its history tells of a redrive: %v", redriven)
				}
			})
		})
	}
}

// TestReopenServed reopens a run by a message: the process that serves the database drives it.
func TestReopenServed(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		u := newUnreliable(t, retrying, opts...)
		store := u.eng.Store()
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- u.eng.Serve(ctx) }()
		if err := u.eng.Start(ctx, "r"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if run, err := store.Run(ctx, "r"); err != nil || run.Outcome != storage.FailedOutcome {
			t.Errorf("%+v, %v", run, err)
		}
		u.behave = func(context.Context) error { return nil }
		if err := engine.Send(ctx, store, "r", engine.RetryFrom("")); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		if run, err := store.Run(ctx, "r"); err != nil || run.Outcome != storage.Succeeded {
			t.Errorf("%+v, %v", run, err)
		}
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
