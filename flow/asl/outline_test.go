package asl_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
)

func TestMachineStates(t *testing.T) {
	t.Parallel()
	text := []byte(`{
  "StartAt": "Big?",
  "States": {
    "Big?": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThan": 9, "Next": "Both"}], "Default": "Pay"},
    "Pay": {"Type": "Task", "Resource": "exec:./pay", "Revert": "exec:./refund", "Next": "Each",
      "Catch": [{"ErrorEquals": ["A", "B"], "Next": "No"}]},
    "Both": {"Type": "Parallel", "Next": "Each", "Branches": [
      {"StartAt": "L", "States": {"L": {"Type": "Wait", "Seconds": 1, "End": true}}},
      {"StartAt": "R", "States": {"R": {"Type": "Pass", "End": true}}}]},
    "Each": {"Type": "Map", "End": true,
      "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Succeed"}}}},
    "No": {"Type": "Fail"}
  }
}`)
	m, err := asl.Parse("order", text)
	if err != nil {
		t.Fatal(err)
	}
	want := []asl.StateInfo{
		{Name: "Big?", Type: "Choice", Start: true, Next: []asl.Transition{{To: "Both", Label: "$.n > 9"}, {To: "Pay", Label: "default"}}},
		{
			Name: "Pay", Type: "Task", Next: []asl.Transition{{To: "Each"}, {To: "No", Label: "Catch A, B", Catch: true}},
			Errors: []string{"A", "B"}, Task: "exec:./pay", Revert: "exec:./refund",
		},
		{Name: "Both", Type: "Parallel", Next: []asl.Transition{{To: "Each"}}},
		{Name: "L", Type: "Wait", In: "Both", Start: true, End: true},
		{Name: "R", Type: "Pass", In: "Both", Branch: 1, Start: true, End: true},
		{Name: "Each", Type: "Map", End: true},
		{Name: "One", Type: "Succeed", In: "Each", Start: true, End: true},
		{Name: "No", Type: "Fail", End: true},
	}
	got := m.States()
	for i := range got {
		s := &got[i]
		for resource, at := range map[string]int{s.Task: s.TaskAt, s.Revert: s.RevertAt} {
			if resource != "" && !bytes.HasPrefix(text[at:], []byte(`"`+resource+`"`)) {
				line, column := asl.Position(text, at)
				t.Errorf("%s does not stand at %d:%d", resource, line, column)
			}
		}
		s.TaskAt, s.RevertAt = 0, 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
