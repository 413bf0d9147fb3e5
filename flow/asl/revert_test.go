package asl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// TestUndo checks the input of the task that undoes another.
func TestUndo(t *testing.T) {
	t.Parallel()
	whole := `"exec:cancel"`
	some := `{"Resource": "exec:cancel", "Parameters": {"id.$": "$.Result.id", "how.$": "$.Outcome", "of.$": "$$.State.Name", "since.$": ` +
		`"$$.State.EnteredTime", "key.$": "States.UUID()"}}`
	done := atom.Done(atom.FromJSON([]byte(`{"id":7}`)))
	failed := atom.Failed[atom.Value](&atom.Failure{Code: "Boom", Message: "it broke"})
	for _, c := range []struct {
		name, revert string
		did          atom.Outcome[atom.Value]
		want         string
	}{
		{"done", whole, done, `{"Input":{"in":1},"Result":{"id":7},"Outcome":"Done"}`},
		{"failed", whole, failed, `{"Input":{"in":1},"Result":null,"Outcome":"Failed","Error":"Boom","Cause":"it broke"}`},
		{"unknown", whole, atom.Unknown[atom.Value](), `{"Input":{"in":1},"Result":null,"Outcome":"Unknown"}`},
		{"parameters", some, done, `{"id":7,"how":"Done","of":"Book","since":"2025-01-01T00:00:00.000Z","key":"c0f38614-a95f-4078-80f3-8914a95f8591"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `{"StartAt": "Book", "States": {"Book": {"Type": "Task", "Resource": "exec:book", "Parameters": {"in.$": "$.a"}, "Revert": `+
				``+c.revert+`, "End": true}}}`)
			s := simulate(t, m, `{"a": 1}`, nil)
			if len(s.undone) != 1 {
				t.Fatalf("%d nodes can be undone, want 1", len(s.undone))
			}
			n := s.undone[0]
			if got := n.spec.Undo.Task; got != "exec:cancel" {
				t.Errorf("undone by %s", got)
			}
			for range 2 { // asked again, the answer is the same
				got, err := m.Undo(&grow.UndoAsk{Run: s.run, Path: n.path(), Spec: &n.spec, Did: c.did, Now: epoch})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got.String()); diff != "" {
					t.Errorf("input (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestUndoFails shows that a Revert whose parameters cannot be evaluated, or
// that is not there any more, is an error.
func TestUndoFails(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "exec:x", "Revert": {"Resource": "exec:y", "Parameters": {"id.$": "$.Result.id"}}, "End": true}`))
	for note, want := range map[string]string{
		"S": `asl: S: Revert: The JSONPath '$.Result.id' specified for the field 'id.$' could not be found in the input ` +
			`'{"Input":null,"Result":null,"Outcome":"Unknown"}'`,
		"Gone": `asl: S: the definition test has no state "Gone" with a Revert`,
	} {
		_, err := m.Undo(&grow.UndoAsk{Run: &grow.RunInfo{}, Path: "S", Spec: &grow.Spec{Undo: &grow.Undo{Note: note}}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", note, err, want)
		}
	}
}

// TestFlowWarns: the flow of a machine has the warnings of its definition, so that engine.New logs them.
func TestFlowWarns(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "exec:x", "Next": "B"},
		"B": {"Type": "Task", "Resource": "exec:x", "Revert": "exec:y", "End": true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := flow.Compile(m.Flow(), nil)
	if err != nil || len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], `state "A" has no Revert`) {
		t.Errorf("warnings %q, %v", plan.Warnings, err)
	}
}
