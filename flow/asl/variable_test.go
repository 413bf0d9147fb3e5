package asl_test

import (
	"strings"
	"testing"
)

// TestVariables shows where variables can be seen, and that an Assign is
// evaluated as a whole before any changes.
func TestVariables(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {
		"A": {"Type": "Pass", "Assign": {"x": 1, "y": {"deep": [10, 20]}}, "Next": "B"},
		"B": {"Type": "Pass", "Assign": {"x.$": "$y.deep[1]", "z.$": "$x"}, "Next": "C"},
		"C": {"Type": "Task", "Resource": "exec:x", "Parameters": {"x.$": "$x", "z.$": "$z"}, "Assign": {"r.$": "$.z"}, "ResultPath": null, "Next": "D"},
		"D": {"Type": "Parallel", "Next": "E", "ResultPath": "$.p", "Assign": {"p.$": "$[0].i"}, "Branches": [
			{"StartAt": "D1", "States": {"D1": {"Type": "Pass", "Assign": {"i.$": "$x"}, "Next": "D2"}, "D2": {"Type": "Parallel", "End": true,
				"OutputPath": "$[0]", "Branches": [
				{"StartAt": "D3", "States": {"D3": {"Type": "Pass", "Parameters": {"i.$": "$i", "y.$": "$y.deep[0]"}, "End": true}}}]}}}]},
		"E": {"Type": "Choice", "Choices": [{"Variable": "$p", "NumericEqualsPath": "$x", "Assign": {"c": "rule"}, "Next": "F"}], "Default": "F",
				"Assign": {"c": "default"}},
		"F": {"Type": "Pass", "Parameters": {"x.$": "$x", "z.$": "$z", "r.$": "$r", "p.$": "$.p", "q.$": "$p", "c.$": "$c"}, "End": true}
	}}`)
	want := `SUCCEEDED {"x":20,"z":1,"r":1,"p":[{"i":20,"y":10}],"q":20,"c":"rule"}`
	if got := ending(simulate(t, m, `{}`, nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m = parse(t, `{"StartAt": "A", "States": {
		"A": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Pass", "Assign": {"i": 1}, "End": true}}}], "Next": "C"},
		"C": {"Type": "Pass", "Parameters": {"i.$": "$i"}, "End": true}}}`)
	if got := ending(simulate(t, m, `{}`, nil)); !strings.HasPrefix(got, "FAILED States.Runtime") {
		t.Errorf("a branch's variable can be seen behind it: %s", got)
	}
}

// TestVariablesLimit: variables cannot grow beyond the memory of a flow.
//
// Guarantee (G9): variables of a state machine, 384 KiB.
func TestVariablesLimit(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"a.$": "$"}, "Next": "B"},
		"B": {"Type": "Pass", "Assign": {"b.$": "$"}, "End": true}}}`)
	want := "FAILED States.DataLimitExceeded: The state/task 'B' returned a result with a size exceeding the maximum number of bytes service limit."
	if got := ending(simulate(t, m, `"`+strings.Repeat("x", 200<<10)+`"`, nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
