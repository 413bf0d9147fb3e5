package asl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestData shows the order of data processing and what goes wrong in it.
func TestData(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, state, input, want string }{
		{"pass", `{"Type": "Pass", "End": true}`, `{"a": 1}`, `{"a": 1}`},
		{"no input", `{"Type": "Pass", "End": true}`, ``, `{}`},
		{
			"numbers keep their digits", `{"Type": "Pass", "Parameters": {"n.$": "$.n"}, "End": true}`, `{"n": 123456789012345678901234567890.10}`,
			`{"n":123456789012345678901234567890.10}`,
		},
		{"result", `{"Type": "Pass", "Result": [1, {"a.$": "$.a"}], "End": true}`, `{}`, `[1,{"a.$":"$.a"}]`},
		{"result into the raw input", `{"Type": "Pass", "InputPath": "$.a", "Result": 7, "ResultPath": "$.b.c", "End": true}`, `{"a": 1}`, `{"a":1,"b":{"c":7}}`},
		{"result dropped", `{"Type": "Pass", "Result": 7, "ResultPath": null, "End": true}`, `{"a": 1}`, `{"a": 1}`},
		{"input null", `{"Type": "Pass", "InputPath": null, "End": true}`, `{"a": 1}`, `{}`},
		{"output null", `{"Type": "Succeed", "OutputPath": null}`, `{"a": 1}`, `{}`},
		{
			"paths in order", `{"Type": "Task", "Resource": "exec:x", "InputPath": "$.a", "Parameters": {"p.$": "$.b"}, "ResultSelector": {"r.$": "$.p"}, ` +
				`"ResultPath": "$.out", "OutputPath": "$.out", "End": true}`,
			`{"a": {"b": 5}}`, `{"r":5}`,
		},
		{
			"list of a path", `{"Type": "Pass", "Parameters": {"l.$": "$.a[*].n", "none.$": "$.b[1:]"}, "End": true}`, `{"a": [{"n": 1}, {"n": 2}]}`,
			`{"l":[1,2],"none":[]}`,
		},
		{
			"context", `{"Type": "Pass", "Parameters": {"s.$": "$$.State.Name", "e.$": "$$.Execution.Id", "m.$": "$$.StateMachine.Name", "i.$": ` +
				`"$$.Execution.Input.a", "t.$": "$$.State.EnteredTime"}, "End": true}`,
			`{"a": 3}`, `{"s":"S","e":"run-1","m":"test","i":3,"t":"2025-01-01T00:00:00.000Z"}`,
		},
		{
			"literals", `{"Type": "Pass", "Parameters": {"a": "$.x", "b": [{"c.$": "$.x"}, "$.x"], "d": {}}, "End": true}`, `{"x": "1"}`,
			`{"a":"$.x","b":[{"c":"1"},"$.x"],"d":{}}`,
		},
		{"escapes", `{"Type": "Pass", "Parameters": {"a.$": "$.x"}, "End": true}`, `{"x": "\u00fc\ud83c\udd97\n\"\\\u0001<"}`, `{"a":"ü🆗\n\"\\\u0001<"}`},

		{
			"input path", `{"Type": "Pass", "InputPath": "$.no.such", "End": true}`, `{"a": 1}`,
			`States.Runtime: ` + inS + `Invalid path '$.no.such' : Missing property in path $['no']`,
		},
		{
			"parameter", `{"Type": "Pass", "Parameters": {"x.$": "$.no"}, "End": true}`, `{"a":1}`,
			`States.Runtime: ` + inS + `The JSONPath '$.no' specified for the field 'x.$' could not be found in the input '{"a":1}'`,
		},
		{
			"variable", `{"Type": "Pass", "Parameters": {"x.$": "$no"}, "End": true}`, `{}`,
			`States.Runtime: ` + inS + `the variable $no is not assigned, which the path '$no' names`,
		},
		{
			"result path", `{"Type": "Pass", "ResultPath": "$.a.b", "End": true}`, `{"a":1}`,
			`States.ResultPathMatchFailure: ` + inS + `Unable to apply ReferencePath $.a.b to input {"a":1}`,
		},
		{
			"result path into a scalar", `{"Type": "Pass", "ResultPath": "$.a", "End": true}`, `1`,
			`States.ResultPathMatchFailure: ` + inS + `Unable to apply ReferencePath $.a to input 1`,
		},
		{
			"intrinsic", `{"Type": "Pass", "Parameters": {"x.$": "States.ArrayGetItem($.a, 3)"}, "End": true}`, `{"a":[]}`,
			`States.IntrinsicFailure: ` + inS + `The function 'States.ArrayGetItem($.a, 3)' had the following error: the array has no element 3`,
		},
		{
			"large output", `{"Type": "Pass", "Parameters": {"a.$": "$.a", "b.$": "$.a"}, "End": true}`, `{"a":"` + strings.Repeat("x", 200_000) + `"}`,
			`States.DataLimitExceeded: The state/task 'S' returned a result with a size exceeding the maximum number of bytes service limit.`,
		},
		{
			"very large output", alotOf("$.a"), `{"a":"` + strings.Repeat("x", 250_000) + `"}`,
			`States.DataLimitExceeded: The state/task 'S' returned a result with a size exceeding the maximum number of bytes service limit.`,
		},
		{
			"large result", `{"Type": "Task", "Resource": "exec:large", "End": true}`, `{}`,
			`States.DataLimitExceeded: The state/task 'exec' returned a result with a size exceeding the maximum number of bytes service limit.`,
		},
		{"fail", `{"Type": "Fail", "Error": "E", "Cause": "because"}`, `{}`, `E: because`},
		{"fail without", `{"Type": "Fail"}`, `{}`, `- `},
		{"fail with cause only", `{"Type": "Fail", "Cause": "because"}`, `{}`, `- because`},
		{"fail by paths", `{"Type": "Fail", "ErrorPath": "$.e", "CausePath": "States.Format('{} of {}', $.c, $$.State.Name)"}`, `{"e": "E", "c": 1}`, `E: 1 of S`},
		{
			"fail by no string", `{"Type": "Fail", "ErrorPath": "$.e"}`, `{"e": 1}`,
			`States.Runtime: ` + inS + `The ErrorPath field must evaluate to a string, found 1`,
		},
		{
			"no choice", `{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Other"}]}`, `{"a": 1}`,
			`States.Runtime: ` + inS + `Failed to transition out of the state. The state does not point to a next state.`,
		},
		{
			"seconds", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{"s": -1}`,
			`States.Runtime: ` + inS + `The SecondsPath parameter references a negative value: $.s == -1`,
		},
		{
			"parts of seconds", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{"s": 1.5}`,
			`States.Runtime: ` + inS + `The SecondsPath parameter cannot be parsed as a long value: $.s == 1.5`,
		},
		{
			"timeout by path", `{"Type": "Task", "Resource": "exec:x", "TimeoutSecondsPath": "$.t", "End": true}`, `{"t": "x"}`,
			`States.Runtime: ` + inS + `The TimeoutSecondsPath field refers to value "x" which is not a valid integer: $.t`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, `{"StartAt": "S", "States": {"S": `+c.state+`, "Other": {"Type": "Succeed"}}}`)
			s := simulate(t, m, c.input, func(c call) answer {
				if c.resource == "exec:large" {
					return answer{output: `"` + strings.Repeat("x", asl.MaxPayload) + `"`}
				}
				return answer{output: c.input.String()}
			})
			got := strings.TrimPrefix(strings.TrimPrefix(ending(s), "SUCCEEDED "), "FAILED ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
}

// alotOf returns a state whose output would have gigabytes.
func alotOf(path string) string {
	var b strings.Builder
	b.WriteString(`{"Type": "Pass", "End": true, "Parameters": {"x": 1`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `, "p%d.$": "%s"`, i, path)
	}
	return b.String() + "}}"
}
