package asl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
)

// parse returns a machine that must be right.
func parse(tb testing.TB, definition string) *asl.Machine {
	tb.Helper()
	m, err := asl.Parse("test", []byte(definition))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// alone returns the definition of a machine of one state.
func alone(state string) string {
	return `{"StartAt": "S", "States": {"S": ` + state + `}}`
}

// ending returns how a run ended, on one line.
func ending(s *simulator) string {
	switch {
	case s.end == nil:
		return "no end"
	case s.end.Failure == nil:
		return s.status + " " + s.end.Value.String()
	case s.end.Failure.Bare:
		return s.status + " - " + s.end.Failure.Message
	}
	return s.status + " " + s.end.Failure.Code + ": " + s.end.Failure.Message
}

const inS = "An error occurred while executing the state 'S' (entered at the event id #2). "

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
			`{"a": 3}`, `{"e":"run-1","i":3,"m":"test","s":"S","t":"2025-01-01T00:00:00.000Z"}`,
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
			`States.IntrinsicFailure: ` + inS + `The intrinsic function States.ArrayGetItem failed: the array has no element 3`,
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
			`States.NoChoiceMatched: ` + inS + `Failed to transition out of the state. The state does not point to a next state.`,
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

// TestWait shows when a Wait state ends.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state, input string
		want         time.Duration
	}{
		{`"Seconds": 90`, `{}`, 90 * time.Second},
		{`"SecondsPath": "$.s"`, `{"s": 0}`, 0},
		{`"SecondsPath": "$.s"`, `{"s": 7}`, 7 * time.Second},
		{`"Timestamp": "2025-01-01T00:01:00Z"`, `{}`, time.Minute},
		{`"Timestamp": "2016-01-01T00:00:00Z"`, `{}`, 0},
		{`"TimestampPath": "$.t"`, `{"t": "2025-01-01T01:00:30+01:00"}`, 30 * time.Second},
	} {
		s := simulate(t, parse(t, alone(`{"Type": "Wait", `+c.state+`, "End": true}`)), c.input, nil)
		if got := s.now.Sub(epoch); got != c.want || s.status != "SUCCEEDED" {
			t.Errorf("%s of %s ends after %s with %s, want %s", c.state, c.input, got, ending(s), c.want)
		}
	}
}

// tasks answers each call by the next entry for its node, or for its resource.
func tasks(answers map[string][]answer) func(call) answer {
	return func(c call) answer {
		for _, key := range []string{c.path, c.resource} {
			if left := answers[key]; len(left) > 0 {
				answers[key] = left[1:]
				return left[0]
			}
		}
		return answer{output: c.input.String()}
	}
}

func failure(code string) answer {
	return answer{failure: &atom.Failure{Code: code, Message: "it broke"}}
}

// TestRetry shows how often and when a failed task is tried again.
func TestRetry(t *testing.T) {
	t.Parallel()
	boom, other := failure("Boom"), failure("Other")
	for _, c := range []struct {
		name, state string
		answers     []answer
		want        string
		after       time.Duration
	}{
		{"defaults", `"Retry": [{"ErrorEquals": ["Boom"]}]`, []answer{boom, boom, boom, boom}, "FAILED Boom: it broke", 7 * time.Second},
		{"in time", `"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 5, "BackoffRate": 3, "MaxDelaySeconds": 9}]`, []answer{
			boom, other,
			boom,
		}, "SUCCEEDED {}", (5 + 9 + 9) * time.Second},
		{"never", `"Retry": [{"ErrorEquals": ["Boom"], "MaxAttempts": 0}]`, []answer{boom}, "FAILED Boom: it broke", 0},
		{"each its own count", `"Retry": [{"ErrorEquals": ["Boom"], "MaxAttempts": 1}, {"ErrorEquals": ["Other"], "MaxAttempts": 1}]`, []answer{
			boom,
			other,
		}, "SUCCEEDED {}", 2 * time.Second},
		{
			"exhausted, then no later one", `"Retry": [{"ErrorEquals": ["Boom"], "MaxAttempts": 1}, {"ErrorEquals": ["States.ALL"]}]`,
			[]answer{boom, boom},
			"FAILED Boom: it broke", time.Second,
		},
		{"task failed", `"Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`, []answer{boom}, "SUCCEEDED {}", time.Second},
		{
			"timeout is no failure of the task", `"TimeoutSeconds": 4, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}]`,
			[]answer{{never: true}},
			"FAILED States.Timeout: ", 4 * time.Second,
		},
		{
			"timeout", `"TimeoutSeconds": 4, "Retry": [{"ErrorEquals": ["States.Timeout"]}]`,
			[]answer{{never: true}, {output: "1", after: 3 * time.Second}},
			"SUCCEEDED 1", 8 * time.Second,
		},
		{"heartbeat", `"Retry": [{"ErrorEquals": ["States.HeartbeatTimeout"]}]`, []answer{failure(atom.CodeHeartbeatLost)}, "SUCCEEDED {}", time.Second},
		{
			"not the language's own", `"Parameters": {"x.$": "$.x"}, "Retry": [{"ErrorEquals": ["States.ALL"]}]`, nil,
			`FAILED States.Runtime: ` + inS + `The JSONPath '$.x' specified for the field 'x.$' could not be found in the input '{}'`, 0,
		},
		{
			"a result that cannot be used", `"ResultSelector": {"x.$": "States.StringToJson($.x)"}, "Retry": [{"ErrorEquals": ["States.IntrinsicFailure"]}]`,
			[]answer{{output: `{"x": "{"}`}, {output: `{"x": "["}`}, {output: `{"x": "[]"}`}},
			`SUCCEEDED {"x":[]}`, 3 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, alone(`{"Type": "Task", "Resource": "exec:x", "End": true, `+c.state+`}`))
			s := simulate(t, m, `{}`, tasks(map[string][]answer{"exec:x": c.answers}))
			if got := ending(s); got != c.want || s.now.Sub(epoch) != c.after {
				t.Errorf("%s after %s, want %s after %s", got, s.now.Sub(epoch), c.want, c.after)
			}
		})
	}
}

// TestRetryCount shows that parameters that depend on the count of retries are
// evaluated for each.
func TestRetryCount(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "exec:x", "Parameters": {"n.$": "$$.State.RetryCount"}, "End": true, "Retry": [{"ErrorEquals": `+
		`["Boom"]}]}`))
	var got []string
	simulate(t, m, `{}`, func(c call) answer {
		got = append(got, c.input.String())
		if len(got) < 3 {
			return failure("Boom")
		}
		return answer{output: "1"}
	})
	if diff := cmp.Diff([]string{`{"n":0}`, `{"n":1}`, `{"n":2}`}, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

// TestRetryJitter shows that full jitter stays between nothing and the delay.
func TestRetryJitter(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "exec:x", "End": true, "Retry": [{"ErrorEquals": ["Boom"], "IntervalSeconds": 100, `+
		`"JitterStrategy": "FULL"}]}`))
	ends := map[time.Duration]bool{}
	for seed := range uint64(20) {
		s := &simulator{lang: m, task: tasks(map[string][]answer{"exec:x": {failure("Boom")}}), random: seed}
		s.start(`{}`)
		after := s.now.Sub(epoch)
		if ends[after] = true; after < 0 || after >= 100*time.Second {
			t.Errorf("tried again after %s", after)
		}
	}
	if len(ends) < 10 {
		t.Errorf("20 delays took only %d values", len(ends))
	}
}

// TestCatch shows which failures are caught, and what follows.
func TestCatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, catch string
		fails       answer
		want        string
	}{
		{
			"by name", `{"ErrorEquals": ["Other"], "Next": "No"}, {"ErrorEquals": ["Boom"], "Next": "Yes"}`, failure("Boom"),
			`SUCCEEDED {"Cause":"it broke","Error":"Boom"}`,
		},
		{
			"with the input", `{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Yes"}`, failure("Boom"),
			`SUCCEEDED {"e":{"Cause":"it broke","Error":"Boom"},"in":1}`,
		},
		{"without the error", `{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Yes"}`, failure("Boom"), `SUCCEEDED {"in":1}`},
		{"not", `{"ErrorEquals": ["Other"], "Next": "Yes"}`, failure("Boom"), `FAILED Boom: it broke`},
		{
			"no name", `{"ErrorEquals": ["Lambda.Unknown"], "Next": "No"}, {"ErrorEquals": ["States.TaskFailed"], "Next": "Yes"}`,
			answer{failure: &atom.Failure{Bare: true}},
			`SUCCEEDED {}`,
		},
		{
			"runtime is not caught", `{"ErrorEquals": ["States.Runtime"], "Next": "Yes"}, {"ErrorEquals": ["States.ALL"], "Next": "Yes"}`,
			answer{output: `{}`},
			`FAILED States.Runtime: ` + inS + `Invalid path '$.no' : No results for path: $['no']`,
		},
		{
			"too large a result", `{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Yes"}`, failure(atom.CodeTooLarge),
			`SUCCEEDED {"e":{"Cause":"The state/task 'exec' returned a result with a size exceeding the maximum number of bytes service ` +
				`limit.","Error":"States.DataLimitExceeded"},"in":1}`,
		},
		{
			"no result path", `{"ErrorEquals": ["States.ALL"], "ResultPath": "$.in.x", "Next": "Yes"}`, failure("Boom"),
			`FAILED States.ResultPathMatchFailure: ` + inS + `Unable to apply ReferencePath $.in.x to input {"in":1}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			definition := `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", "OutputPath": "$.no", "Next": "No", "Catch": [` + c.catch + `]},
				"Yes": {"Type": "Succeed"}, "No": {"Type": "Fail", "Error": "No"}}}`
			s := simulate(t, parse(t, definition), `{"in":1}`, tasks(map[string][]answer{"exec:x": {c.fails}}))
			if got := ending(s); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestParameterPathFailure shows that a Catch may call a missing parameter by
// the name that the specification gives it.
func TestParameterPathFailure(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", "Parameters": {"x.$": "$.x"}, "End": true,
		"Catch": [{"ErrorEquals": ["States.ParameterPathFailure"], "ResultPath": null, "Next": "Yes"}]}, "Yes": {"Type": "Succeed"}}}`)
	if got := ending(simulate(t, m, `{"in":1}`, nil)); got != `SUCCEEDED {"in":1}` {
		t.Error(got)
	}
}

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
	want := `SUCCEEDED {"c":"rule","p":[{"i":20,"y":10}],"q":20,"r":1,"x":20,"z":1}`
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

// TestParallel shows the join of branches, in order and with failures.
func TestParallel(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "Fork", "States": {"Fork": {"Type": "Parallel", "Parameters": {"in.$": "$.a"}, "End": true, "Branches": [
		{"StartAt": "Slow", "States": {"Slow": {"Type": "Wait", "Seconds": 9, "Next": "Pay"}, "Pay": {"Type": "Task", "Resource": "exec:pay", "End": true}}},
		{"StartAt": "Quick", "States": {"Quick": {"Type": "Task", "Resource": "exec:quick", "End": true}}}]EXTRA}, "Caught": {"Type": "Succeed"}}}`
	for _, c := range []struct {
		name, extra string
		answers     map[string][]answer
		want        string
		events      string
	}{
		{
			"well", "", nil, `SUCCEEDED [{"in":1},{"in":1}]`,
			"ParallelStateSucceeded Fork, ParallelStateExited Fork, ExecutionSucceeded",
		},
		{
			"a branch fails", "",
			map[string][]answer{"exec:quick": {failure("Boom")}},
			"FAILED Boom: it broke",
			"TaskFailed Quick, TaskStateAborted Quick, WaitStateAborted Slow, ParallelStateFailed Fork, ExecutionFailed",
		},
		{
			"caught", `, "Catch": [{"ErrorEquals": ["Boom"], "ResultPath": "$.e", "Next": "Caught"}]`,
			map[string][]answer{"Fork[1]/Quick": {failure("Boom")}},
			`SUCCEEDED {"a":1,"e":{"Cause":"it broke","Error":"Boom"}}`,
			"ParallelStateExited Fork, SucceedStateEntered Caught, SucceedStateExited Caught, ExecutionSucceeded",
		},
		{
			"tried again", `, "Retry": [{"ErrorEquals": ["Boom"]}]`,
			map[string][]answer{"exec:pay": {failure("Boom")}},
			`SUCCEEDED [{"in":1},{"in":1}]`,
			"ParallelStateSucceeded Fork, ParallelStateExited Fork, ExecutionSucceeded",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, parse(t, strings.Replace(definition, "EXTRA", c.extra, 1)), `{"a":1}`, tasks(c.answers))
			if got := ending(s); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if events := strings.Join(s.types(), ", "); !strings.HasSuffix(events, c.events) {
				t.Errorf("events %s, want them to end with %s", events, c.events)
			}
		})
	}
}

// TestMap shows a Map state: its order, its bound, its context.
func TestMap(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.list", "MaxConcurrency": 2, "End": true,
		"ItemSelector": {"v.$": "$$.Map.Item.Value", "of.$": "$.of"},
		"ItemProcessor": {"StartAt": "Do", "States": {
			"Do": {"Type": "Task", "Resource": "exec:x", "Parameters": {"i.$": "$$.Map.Item.Index", "v.$": "$.v", "of.$": "$.of"}, "End": true}}}}}}`
	running, most := 0, 0
	s := simulate(t, parse(t, definition), `{"list": ["a", "b", "c"], "of": 3}`, func(c call) answer {
		running++
		most = max(most, running)
		return answer{output: c.input.String(), after: time.Second}
	})
	if got, want := ending(s), `SUCCEEDED [{"i":0,"of":3,"v":"a"},{"i":1,"of":3,"v":"b"},{"i":2,"of":3,"v":"c"}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.now.Sub(epoch), 2*time.Second; got != want {
		t.Errorf("took %s, want %s for 3 items of a second each, 2 at once", got, want)
	}
	for input, want := range map[string]string{
		`{"list": [], "of": 0}`: `SUCCEEDED []`,
		`{"list": {}, "of": 0}`: `FAILED States.Runtime: An error occurred while executing the state 'Each' (entered at the event id #2). Reference path ` +
			`"$.list" must point to array.`,
		`{"list": [1]}`: `FAILED States.Runtime: An error occurred while executing the state 'Each' (entered at the event id #2). The JSONPath ` +
			`'$.of' specified for the field 'of.$' could not be found in the input '{"list": [1]}'`,
	} {
		if got := ending(simulate(t, parse(t, definition), input, nil)); got != want {
			t.Errorf("of %s: %s, want %s", input, got, want)
		}
	}
}

// TestNames shows what nodes are called.
func TestNames(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "Pay", "States": {
		"Pay": {"Type": "Task", "Resource": "exec:x", "Next": "Pay#2"},
		"Pay#2": {"Type": "Task", "Resource": "exec:x", "Next": "Enough?"},
		"Enough?": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericEquals": 2, "Next": "a/b~"}], "Default": "Pay"},
		"a/b~": {"Type": "Parallel", "Branches": [{"StartAt": "In", "States": {"In": {"Type": "Task", "Resource": "exec:x", "End": true}}}], "End": true}}}`)
	var got []string
	simulate(t, m, `{"n": 0}`, func(c call) answer {
		got = append(got, c.path)
		return answer{output: fmt.Sprintf(`{"n": %d}`, len(got)/2)}
	})
	want := []string{"Pay", "Pay#2#1", "Pay#2", "Pay#2#2", "a~1b~0[0]/In"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// TestTimeout shows the time limit of a whole machine, and a run that is ended
// from outside.
func TestTimeout(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"TimeoutSeconds": 30, "StartAt": "S", "States": {"S": {"Type": "Wait", "Seconds": 60, "End": true}}}`)
	s := simulate(t, m, `{}`, nil)
	if got, want := ending(s), "TIMED_OUT States.Timeout: "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []string{"ExecutionStarted", "WaitStateEntered S", "ExecutionTimedOut"}
	if diff := cmp.Diff(want, s.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s = &simulator{lang: m, stopAt: epoch.Add(time.Second)}
	s.start(`{}`)
	want[2] = "ExecutionAborted"
	if diff := cmp.Diff(want, s.types()); diff != "" {
		t.Errorf("events of a run that was ended (-want +got):\n%s", diff)
	}
}

// TestBudget shows that a long walk is cut into answers, and goes on.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := simulate(t, parse(t, counter), `{"left": [`+strings.Repeat("0,", 999)+`0], "keep": 1}`, nil)
	if got, want := ending(s), `SUCCEEDED {"keep":1,"left":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.asked < 4 || s.asked > 10 {
		t.Errorf("%d questions for 2,000 states", s.asked)
	}
}

// counter pops a list until it is empty.
const counter = `{"StartAt": "More?", "States": {
	"More?": {"Type": "Choice", "Choices": [{"Variable": "$.left[0]", "IsPresent": true, "Next": "Pop"}], "Default": "Done"},
	"Pop": {"Type": "Pass", "InputPath": "$.left[1:]", "ResultPath": "$.left", "Next": "More?"},
	"Done": {"Type": "Succeed"}}}`

// TestLongChain shows that what a machine without loops remembers does not grow.
func TestLongChain(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"StartAt": "S0", "States": {`)
	for i := range 100 {
		fmt.Fprintf(&text, `"S%d": {"Type": "Task", "Resource": "exec:x", "Next": "S%d"}, `, i, i+1)
	}
	text.WriteString(`"S100": {"Type": "Task", "Resource": "exec:x", "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}}}`)
	noting := &noting{Language: parse(t, text.String())}
	simulate(t, noting, `{}`, nil)
	if noting.most > 100 {
		t.Errorf("a note of %d bytes", noting.most)
	}
}

// noting keeps the size of the largest note.
type noting struct {
	flow.Language
	most int
}

func (n *noting) Grow(ask *flow.Ask) flow.Growth {
	g := n.Language.Grow(ask)
	for i := range g.Add {
		n.most = max(n.most, len(g.Add[i].Note))
	}
	return g
}

// TestVariablesLimit shows that variables cannot grow beyond what a flow can
// remember.
func TestVariablesLimit(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"a.$": "$"}, "Next": "B"},
		"B": {"Type": "Pass", "Assign": {"b.$": "$"}, "End": true}}}`)
	want := "FAILED States.DataLimitExceeded: The state/task 'B' returned a result with a size exceeding the maximum number of bytes service limit."
	if got := ending(simulate(t, m, `"`+strings.Repeat("x", 200<<10)+`"`, nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMapFails shows what the history tells of a Map whose iteration fails.
func TestMapFails(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "In", "States": {
		"In": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Do", "States": {"Do": {"Type": "Task", "Resource": "exec:x", "End": true}}}]}}}}}}`)
	s := simulate(t, m, `[1, 2]`, func(c call) answer {
		if c.path == "Each[0]/In[0]/Do" {
			return failure("Boom")
		}
		return answer{output: "1", after: time.Minute}
	})
	got := strings.Join(s.types(), ", ")
	want := "TaskFailed Do, TaskStateAborted Do, ParallelStateFailed In, MapIterationFailed Each, ParallelStateAborted In, " +
		"MapIterationAborted Each, ParallelStateAborted In, TaskStateAborted Do, MapStateFailed Each, ExecutionFailed"
	if !strings.HasSuffix(got, want) {
		t.Errorf("events %s, want them to end with %s", got, want)
	}
}

// TestUnknownState shows that a run whose definition was exchanged for another
// fails and does not panic.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Succeed"}`))
	for _, cause := range []flow.Cause{
		{Kind: flow.Ended, Note: atom.FromJSON([]byte(`{"s":"Gone"}`))},
		{Kind: flow.Ended, Note: atom.FromJSON([]byte(`[`))},
		{Kind: flow.Continue},
		{Kind: flow.Joined, Note: atom.FromJSON([]byte(`{"s":"S"}`))},
	} {
		g := m.Grow(&flow.Ask{Run: &flow.Run{}, Index: -1, Cause: cause, Event: 1})
		if g.End == nil || g.End.Failure == nil || g.End.Failure.Code != atom.CodeLanguage {
			t.Errorf("%v: %+v, want a failure with code %s", cause.Note, g.End, atom.CodeLanguage)
		}
	}
}
