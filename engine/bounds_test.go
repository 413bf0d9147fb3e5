package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// boundedASL executes an undoable task, computes, forks, and catches every failure of a fork.
const boundedASL = `{"StartAt": "A", "States": {
 "A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "ResultPath": null, "Next": "More?"},
 "More?": {"Type": "Choice", "Choices": [{"Variable": "$.left[0]", "IsPresent": true, "Next": "Pop"}], "Default": "Each"},
 "Pop": {"Type": "Pass", "InputPath": "$.left[1:]", "ResultPath": "$.left", "Next": "More?"},
 "Each": {"Type": "Map", "ItemsPath": "$.items", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Swallow"}], "Next": "Done",
  "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Next": "B"},
   "B": {"Type": "Task", "Resource": "do:b", "Revert": "undo:b", "End": true}}}},
 "Swallow": {"Type": "Task", "Resource": "do:swallow", "End": true},
 "Done": {"Type": "Succeed"}}}`

const boundedSM4C = `{"name": "m", "version": "1", ` + sagaFunctions + `, "states": [
 {"name": "One", "start": true, "enterAction": {"type": "invokeFunction", "functionName": "a", "waitForCompletion": true, "revert": {"functionName": "not a"}},
  "transitions": [{"nextState": "Count"}]},
 {"name": "Count", "enterAction": {"type": "injectData", "expression": "${ .n }"}, "enterResultHandler": "${ .n = $value + 1 }",
  "transitions": [{"condition": "${ .n < 9 }", "nextState": "Count"}, {"condition": "${ .n >= 9 }", "nextState": "End"}]},
 {"name": "End", "enterAction": {"type": "parallel", "actions": [` + undoableB + `, ` + undoableB + `]}}]}`

const undoableB = `{"type": "invokeFunction", "functionName": "b", "waitForCompletion": true, "revert": {"functionName": "not b"}}`

// boundedGo is a grower that asks for more nodes before and after a task, and forks.
func boundedGo(ask *grow.Ask) grow.Growth {
	name := "a"
	if ask.Index >= 0 {
		name = "b"
	}
	spec := grow.Spec{Name: name, Task: "do:" + name, Input: atom.MustEncode(strings.Repeat("x", 300)), Undo: &grow.Undo{Task: "undo:" + name}}
	n, _ := strconv.Atoi(ask.Memory.String())
	switch c := &ask.Cause; {
	case c.Kind == grow.Begin, c.Kind == grow.Continue && n < 5:
		return grow.Growth{Memory: atom.MustEncode(n + 1), More: atom.Null}
	case c.Kind == grow.Continue:
		return add(spec)
	case c.Kind == grow.Ended && ask.Index < 0:
		return add(grow.Spec{Name: "f", Kind: grow.Fork, Group: &grow.Group{Count: 3}})
	default:
		return done(nil)
	}
}

// bounded are flows that grow in every way, with the limits that each can reach.
func bounded(t *testing.T) map[string]func(*world) flow.Node {
	t.Helper()
	a, err := asl.Parse("asl", []byte(boundedASL))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sm4c.Parse("sm4c", []byte(boundedSM4C))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(*world) flow.Node{
		"asl":  func(*world) flow.Node { return a.Flow() },
		"sm4c": func(*world) flow.Node { return s.Flow() },
		"go":   func(*world) flow.Node { return flow.Growing("go", lang(boundedGo)) },
		"plan": func(w *world) flow.Node {
			tried := flow.Linear("tried", w.task("b", nil), w.task("c", func(n int) bool { return n < 3 })).WithRetry(atom.Times(5, atom.Backoff{}))
			return flow.Linear("plan", w.task("a", nil), tried)
		},
	}
}

// limitsOf are the limits by name, as the engine takes them.
var limitsOf = map[string]func(n int64) engine.Limits{
	"transitions": func(n int64) engine.Limits { return engine.Limits{Transitions: n} },
	"atoms":       func(n int64) engine.Limits { return engine.Limits{Atoms: n} },
	"values":      func(n int64) engine.Limits { return engine.Limits{Values: n} },
	"iterations":  func(n int64) engine.Limits { return engine.Limits{Iterations: n} },
	"bytes":       func(n int64) engine.Limits { return engine.Limits{Bytes: n} },
}

// bound runs a flow within limits, with deaths after the given numbers of commits. It returns how the run ended, which
// effects remain, and whether a process died.
func bound(t *testing.T, build func(*world) flow.Node, l engine.Limits, policy engine.Checkpoints, deaths ...int) (run storage.Run, w *world, died bool) {
	t.Helper()
	w = &world{}
	synctest.Test(t, func(t *testing.T) {
		records := memstore.New()
		for i := 0; ; i++ {
			process := records.Join()
			var store backend.Store = process
			if i < len(deaths) {
				store = dies(process, deaths[i])
			}
			eng := newEngine(t, build(w), engine.WithStore(store), engine.WithTasks(w), engine.WithLimits(l), engine.WithCheckpoints(policy))
			res, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"left": [0, 0, 0, 0], "items": [1, 2, 3], "n": 0}`))))
			if err := process.Close(); err != nil {
				t.Fatal(err)
			}
			if errors.As(err, new(*engine.StoreError)) && i < len(deaths) {
				died = true
				continue
			}
			if res == nil {
				t.Fatal(err)
			}
			run = res.Run
			return
		}
	})
	return run, w, died
}

// wantBound checks that a limit made a run fail, and that no effect remains.
func wantBound(t *testing.T, name string, n int64, run *storage.Run, w *world) {
	t.Helper()
	f := run.Failure
	if run.State == states.FlowSuccess || f == nil || f.Code != atom.CodeLimit || run.Outcome != storage.FailedOutcome ||
		!strings.Contains(f.Message, fmt.Sprintf("its limit of %d ", n)) || !strings.Contains(f.Message, "the setting is "+name+" of") {
		t.Errorf("%s=%d: ended %v, outcome %d: %v", name, n, run.State, run.Outcome, f)
	}
	if did := slices.ContainsFunc(w.calls, func(c string) bool { return strings.HasPrefix(c, "do ") }); did != (run.State == states.FlowReverted) {
		t.Errorf("%s=%d: ended %v after %v", name, n, run.State, w.calls)
	}
	if len(w.there) > 0 {
		t.Errorf("%s=%d: left in the world: %v", name, n, w.there)
	}
	if slices.ContainsFunc(w.calls, func(c string) bool { return strings.Contains(c, "swallow") }) {
		t.Errorf("%s=%d: the failure was caught: %v", name, n, w.calls)
	}
}

// TestRunLimits finds, for each flow and limit, the lowest limit that the flow needs. Under it, the flow succeeds at
// any point of death. Under one less, it fails at any point of death, and its work is undone.
//
// Attack (Runs that grow or compute without end): `Catch` of `States.ALL`, to continue after a limit.
// Result: The failure ends the run, not the state.
//
// Attack (Runs that grow or compute without end): Nested Maps that open millions of atoms.
// Result: `atoms`, `values`.
// Also: `engine/internal/scheduler: TestExceeded`.
func TestRunLimits(t *testing.T) {
	t.Parallel()
	for name, build := range bounded(t) {
		for limit := range limitsOf {
			if name == "plan" && limit != "iterations" && limit != "bytes" {
				continue // the definition bounds the other limits
			}
			t.Run(name+"/"+limit, func(t *testing.T) {
				t.Parallel()
				least := leastLimit(t, build, limit)
				for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
					commits := 0
					for diesAround(t, build, limit, least, policy, commits) {
						commits++
					}
				}
			})
		}
	}
}

// leastLimit returns the lowest limit that a flow needs.
func leastLimit(t *testing.T, build func(*world) flow.Node, limit string) int64 {
	t.Helper()
	const most = 1 << 20
	low, high := int64(0), int64(most) // fails with low, succeeds with high
	for low+1 < high {
		n := low + (high-low)/2
		run, w, _ := bound(t, build, limitsOf[limit](n), engine.Step)
		if run.State == states.FlowSuccess {
			high = n
			continue
		}
		low = n
		wantBound(t, limit, n, &run, w)
	}
	if low == 0 || high == most {
		t.Fatalf("it needs %d", high)
	}
	t.Logf("it needs %d", high)
	return high
}

// diesAround lets the process die after the given number of commits, in a run with the limit that it needs and in one
// with one less. It reports whether a process died.
func diesAround(t *testing.T, build func(*world) flow.Node, limit string, least int64, policy engine.Checkpoints, commits int) bool {
	t.Helper()
	run, w, died := bound(t, build, limitsOf[limit](least-1), policy, commits, 1)
	wantBound(t, limit, least-1, &run, w)
	if limit == "bytes" { // a resumed run writes more
		return died
	}
	run, _, also := bound(t, build, limitsOf[limit](least), policy, commits, 1)
	if run.State != states.FlowSuccess {
		t.Errorf("%s=%d, death after commit %d: %v, %v", limit, least, commits, run.State, run.Failure)
	}
	return died || also
}

// TestRunLimitsOfLivelocks runs flows that would compute for ever, in each language. Each fails in the end, and its
// work is undone.
//
// Attack (Runs that grow or compute without end): A loop of computing states that writes history.
// Result: `transitions`.
// Also: `TestRunLimits`.
func TestRunLimitsOfLivelocks(t *testing.T) {
	t.Parallel()
	loop, err := asl.Parse("asl", []byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "Next": "P"},
		"P": {"Type": "Pass", "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$.never", "IsPresent": true, "Next": "End"}], "Default": "P"}, "End": {"Type": "Succeed"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, build := range map[string]func(*world) flow.Node{
		"asl": func(*world) flow.Node { return loop.Flow() },
		"go": func(*world) flow.Node {
			return flow.Growing("go", lang(func(ask *grow.Ask) grow.Growth {
				if ask.Cause.Kind == grow.Begin {
					return add(work("a"))
				}
				return grow.Growth{More: atom.Null}
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, w, _ := bound(t, build, engine.Limits{Transitions: 20_000}, engine.Step)
			wantBound(t, "transitions", 20_000, &run, w)
			if run.Iterations > 20_002 || run.State != states.FlowReverted {
				t.Errorf("%v after %d", run.State, run.Iterations)
			}
		})
	}
}

// TestRunLimitsOfGroups lets a Go grower ask for more children than fit into memory. The run fails before a child is
// created.
//
// Attack (Runs that grow or compute without end): A Go flow with more children than fit in memory.
// Result: Ebb checks the size of a group before building it.
func TestRunLimitsOfGroups(t *testing.T) {
	t.Parallel()
	for limit, group := range map[string]grow.Group{"atoms": {Count: 10_000_000}, "iterations": {Count: 1 << 50, Slots: 2}} {
		build := func(*world) flow.Node {
			return flow.Growing("go", lang(func(*grow.Ask) grow.Growth { return add(grow.Spec{Name: "f", Kind: grow.Fork, Group: &group}) }))
		}
		run, w, _ := bound(t, build, engine.Limits{}, engine.Step)
		most := engine.DefaultLimits().Atoms
		if limit == "iterations" {
			most = engine.DefaultLimits().Iterations
		}
		wantBound(t, limit, most, &run, w)
	}
}

// TestRunLimitsAreChecked refuses invalid limits.
func TestRunLimitsAreChecked(t *testing.T) {
	t.Parallel()
	if _, err := engine.New(flow.Linear("f"), memstore.New(), engine.WithLimits(engine.Limits{Bytes: -1})); err == nil || !strings.Contains(err.Error(), "Bytes is -1") {
		t.Error(err)
	}
}

// TestInputAtItsLimit: a run with the largest input ends. The record of what its failure leaves open has that input in it.
//
// Attack (Runs that grow or compute without end): An input of the largest size to a machine that refuses it.
// Result: The run fails: records of Ebb's own have no limit of a value.
func TestInputAtItsLimit(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("pass", []byte(`{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	input := atom.MustEncode(strings.Repeat("x", atom.MaxValue-3))
	res, err := newEngine(t, m.Flow(), engine.WithStore(memstore.New())).Run(t.Context(), "r", engine.Input(input))
	if res == nil || res.Run.State != states.FlowFailure || res.Run.Failure.Code != "States.DataLimitExceeded" {
		t.Errorf("%+v, %v", res, err)
	}
}
