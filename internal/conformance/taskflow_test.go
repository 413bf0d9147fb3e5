package conformance_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/conformance"
)

// recordOf returns a record of two tasks. The second one fails.
func recordOf(t *testing.T) *conformance.TaskFlowRecord {
	t.Helper()
	rec := new(conformance.TaskFlowRecord)
	err := json.Unmarshal([]byte(`{
		"name": "two", "case": {"flow": {"kind": "linear", "name": "f", "children": [{"kind": "task", "name": "a"}, {"kind": "task", "name": "b"}]}},
		"expect": {
			"runs": [{
				"op": "run",
				"trace": [["F", "PENDING", "RUNNING"], ["T", "b", "REVERTED", "PENDING"], ["T", "a", "REVERTED", "PENDING"], ["T", "b", "RUNNING", "FAILURE"]],
				"calls": [{"c": "revert", "atom": "b", "n": 1, "args": {}, "result": null, "flow_failures": {}}],
				"flow": "REVERTED", "raised": ["Boom(b#1)"]
			}],
			"interrupts_fired": 0,
			"final": {
				"flow": "REVERTED", "symbols": {"x": [{"$failure": "Boom(b#1)"}], "y": [1]},
				"atoms": {"b": {"kind": "T", "state": "REVERTED", "intention": "REVERT", "failure": "Boom(b#1)"}}
			}
		}
	}`), rec)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestTaskFlowCompare checks which differences are found, and which are allowed.
func TestTaskFlowCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(o *conformance.TaskFlowOutcome)
		miss   string
	}{
		{"nothing", func(*conformance.TaskFlowOutcome) {}, ""},
		{"bulk writes in another order", func(o *conformance.TaskFlowOutcome) {
			trace := o.Runs[0].Trace
			trace[1], trace[2] = trace[2], trace[1]
		}, ""},
		{"a failure that TaskFlow hides", func(o *conformance.TaskFlowOutcome) {
			o.Runs[0].Calls[0].FlowFailures = map[string]string{"b": "Boom(b#1)"}
		}, ""},
		{"a failure that never was", func(o *conformance.TaskFlowOutcome) {
			o.Runs[0].Calls[0].FlowFailures = map[string]string{"a": "Boom(a#1)"}
		}, "flow_failures"},
		{"a failure as a value", func(o *conformance.TaskFlowOutcome) {
			o.Final.Symbols["x"] = []json.RawMessage{[]byte(`{"$failure": "Boom(b#1)"}`)}
		}, "symbols.x"},
		{"a symbol", func(o *conformance.TaskFlowOutcome) { delete(o.Final.Symbols, "y") }, "symbols.y"},
		{"a change of state", func(o *conformance.TaskFlowOutcome) { o.Runs[0].Trace = o.Runs[0].Trace[:3] }, "trace 3"},
		{"a call", func(o *conformance.TaskFlowOutcome) { o.Runs[0].Calls = nil }, "call 0"},
		{"another call", func(o *conformance.TaskFlowOutcome) {
			o.Runs[0].Calls = append(o.Runs[0].Calls, o.Runs[0].Calls[0])
		}, "call 1"},
		{"what is raised", func(o *conformance.TaskFlowOutcome) { o.Runs[0].Raised = nil }, "raised"},
		{"the end of a run", func(o *conformance.TaskFlowOutcome) { o.Runs[0].Flow = "FAILURE" }, "flow"},
		{"runs", func(o *conformance.TaskFlowOutcome) { o.Runs = nil }, "want 1 runs, got 0"},
		{"the end", func(o *conformance.TaskFlowOutcome) { o.Final.Flow = "FAILURE" }, "final.flow"},
		{"a refusal", func(o *conformance.TaskFlowOutcome) { o.BuildError = "Duplicate" }, "build_error"},
	} {
		got := recordOf(t).Expect
		delete(got.Final.Symbols, "x") // Ebb has no failures for values
		c.change(&got)
		if miss := recordOf(t).Compare(&got); (miss == "") != (c.miss == "") || !strings.Contains(miss, c.miss) {
			t.Errorf("%s: found %q, want %q", c.name, miss, c.miss)
		}
	}
	got := recordOf(t).Expect
	delete(got.Final.Symbols, "x")
	if miss := recordOf(t).CompareFacts(&got); miss != "" {
		t.Errorf("facts differ from themselves: %s", miss)
	}
}

// TestDeparture checks the mark of each departure.
func TestDeparture(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(r *conformance.TaskFlowRun){
		"":    func(*conformance.TaskFlowRun) {},
		"P1":  func(r *conformance.TaskFlowRun) { r.Calls[0].Stale = []string{"a"} },
		"P3":  func(r *conformance.TaskFlowRun) { r.Trace[3] = []string{"T", "a", "REVERTING", "REVERT_FAILURE"} },
		"P5":  func(r *conformance.TaskFlowRun) { r.Flow, r.Raised = "FAILURE", []string{"!NotFound"} },
		"P7":  func(r *conformance.TaskFlowRun) { r.Op, r.Raised = "reset_run", []string{"!InvalidState"} },
		"P10": func(r *conformance.TaskFlowRun) { r.Flow, r.Raised = "FAILURE", []string{"!StorageFailure"} },
		"R4":  func(r *conformance.TaskFlowRun) { r.Flow, r.Raised = "RUNNING", []string{"!InvalidState"} },
	} {
		rec := recordOf(t)
		change(&rec.Expect.Runs[0])
		if got := rec.Departure(); got != want {
			t.Errorf("departs by %q, want %q", got, want)
		}
	}
	left := recordOf(t)
	left.Case.Options.NeverResolve = true
	left.Expect.Runs[0].Flow, left.Expect.Runs[0].Trace[3] = "REVERTED", []string{"T", "a", "RUNNING", "FAILURE"}
	if got := left.Departure(); got != "P4" {
		t.Errorf("departs by %q, want P4", got)
	}
	rec := recordOf(t)
	rec.Expect.Runs[0].Flow, rec.Expect.Runs[0].Raised = "FAILURE", []string{"!NotFound", "Boom(b#1)"}
	if got := rec.Departure(); got != "" {
		t.Errorf("departs by %q, which is no mark of the format", got)
	}
	rec = recordOf(t)
	rec.Expect.Runs[0].RaisedStale = []string{"Boom(b#1)"}
	if got := rec.Departure(); got != "P1" {
		t.Errorf("departs by %q, want P1", got)
	}
}
