package asl_test

import (
	"fmt"
	"testing"
)

// TestChoice shows every comparison.
func TestChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, input string
		want        bool
	}{
		{`"Variable": "$.a", "StringEquals": "x"`, `{"a": "x"}`, true},
		{`"Variable": "$.a", "StringEquals": "x"`, `{"a": "X"}`, false},
		{`"Variable": "$.a", "StringEquals": "1"`, `{"a": 1}`, false},
		{`"Variable": "$.a", "StringLessThan": "AB"`, `{"a": "A"}`, true},
		{`"Variable": "$.a", "StringLessThan": "ä"`, `{"a": "z"}`, true},
		{`"Variable": "$.a", "StringLessThan": "\uffff"`, `{"a": "😀"}`, true}, // by code units
		{`"Variable": "$.a", "StringGreaterThanEqualsPath": "$.b"`, `{"a": "b", "b": "b"}`, true},
		{`"Variable": "$.a", "NumericEquals": 1`, `{"a": 1.0}`, true},
		{`"Variable": "$.a", "NumericEquals": 1`, `{"a": "1"}`, false},
		{`"Variable": "$.a", "NumericGreaterThan": 9007199254740992`, `{"a": 9007199254740993}`, true},
		{`"Variable": "$.a", "NumericLessThanEqualsPath": "$.b"`, `{"a": -1e400, "b": 0.5}`, true},
		{`"Variable": "$.a", "BooleanEquals": false`, `{"a": false}`, true},
		{`"Variable": "$.a", "BooleanEquals": false`, `{"a": null}`, false},
		{`"Variable": "$.a", "BooleanEqualsPath": "$.b"`, `{"a": true, "b": true}`, true},
		{`"Variable": "$.a", "TimestampEquals": "2025-01-01T00:00:00Z"`, `{"a": "2025-01-01T01:00:00.000+01:00"}`, true},
		{`"Variable": "$.a", "TimestampGreaterThan": "2025-01-01T00:00:00Z"`, `{"a": "2026-01-01"}`, false},
		{`"Variable": "$.a", "StringMatches": "log-*.t*t"`, `{"a": "log-1.text"}`, true},
		{`"Variable": "$.a", "StringMatches": "log-*.txt"`, `{"a": "log-.txt.gz"}`, false},
		{`"Variable": "$.a", "StringMatches": "a*a"`, `{"a": "a"}`, false},
		{`"Variable": "$.a", "StringMatches": "\\*\\\\*"`, `{"a": "*\\x"}`, true},
		{`"Variable": "$.a", "StringMatches": "\\*"`, `{"a": "x"}`, false},
		{`"Variable": "$.a", "IsNull": true`, `{"a": null}`, true},
		{`"Variable": "$.a", "IsNull": false`, `{"a": 1}`, true},
		{`"Variable": "$.a", "IsPresent": true`, `{"a": null}`, true},
		{`"Variable": "$.b", "IsPresent": true`, `{"a": null}`, false},
		{`"Variable": "$.b", "IsPresent": false`, `{"a": null}`, true},
		{`"Variable": "$.a", "IsNumeric": true`, `{"a": 1e3}`, true},
		{`"Variable": "$.a", "IsString": true`, `{"a": ""}`, true},
		{`"Variable": "$.a", "IsBoolean": true`, `{"a": 0}`, false},
		{`"Variable": "$.a", "IsTimestamp": true`, `{"a": "2030-02-01T10:20:30Z"}`, true},
		{`"Variable": "$.a", "IsTimestamp": true`, `{"a": "2030-02-01T10:20:30"}`, false},
		{`"And": [{"Variable": "$.b", "IsPresent": true}, {"Variable": "$.b", "NumericEquals": 1}]`, `{}`, false}, // the second is not looked at
		{`"Or": [{"Variable": "$.b", "IsPresent": false}, {"Variable": "$.b", "NumericEquals": 1}]`, `{}`, true},
		{`"Not": {"Variable": "$.a", "IsNull": true}`, `{"a": 1}`, true},
		{`"Variable": "$$.State.Name", "StringEquals": "S"`, `{}`, true},
	} {
		m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Choice", "Choices": [{`+c.rule+`, "Next": "Yes"}], "Default": "No"},
			"Yes": {"Type": "Pass", "Result": true, "End": true}, "No": {"Type": "Pass", "Result": false, "End": true}}}`)
		if got, want := ending(simulate(t, m, c.input, nil)), fmt.Sprintf("SUCCEEDED %v", c.want); got != want {
			t.Errorf("{%s} of %s: %s, want %s", c.rule, c.input, got, want)
		}
	}
}

// TestChoiceMissing shows that a variable that is not there fails the state.
func TestChoiceMissing(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEqualsPath": "$.b", "Next": "Y"}]}, "Y": `+
		`{"Type": "Succeed"}}}`)
	for input, path := range map[string]string{`{}`: "$.a", `{"a": 1}`: "$.b"} {
		want := "FAILED States.Runtime: " + inS + "Invalid path '" + path + "': The choice state's condition path references an invalid value."
		if got := ending(simulate(t, m, input, nil)); got != want {
			t.Errorf("of %s: %s, want %s", input, got, want)
		}
	}
}
