package asl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// fuzzSeeds are definitions that use much of the language.
var fuzzSeeds = []string{
	counter,
	alone(`{"Type": "Wait", "SecondsPath": "$.a", "End": true}`),
	alone(`{"Type": "Fail", "ErrorPath": "$.a", "Cause": "x"}`),
	alone(`{"Type": "Pass", "Parameters": {"a.$": "States.Format('{} {}', $.a, States.MathAdd(1, $$.State.Name))", "b": [{"c.$": "$v"}]}, "ResultPath": ` +
		`"$.x[0]", "OutputPath": "$.x", "Assign": {"v.$": "$"}, "End": true}`),
	`{"TimeoutSeconds": 9, "StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:a", "InputPath": "$.a", "ResultSelector": {"x.$": "$.y"}, ` +
		`"TimeoutSecondsPath": "$.t",
			"Retry": [{"ErrorEquals": ["E0"], "JitterStrategy": "FULL"}, {"ErrorEquals": ["States.ALL"], "MaxDelaySeconds": 3}],
				"Catch": [{"ErrorEquals": ["States.TaskFailed"], "ResultPath": "$.e", "Next": "B"}], "Next": "B", "Revert": {"Resource": "exec:b",
				"Parameters": {"a.$": "$.Result"}}},
			"B": {"Type": "Choice", "Choices": [{"And": [{"Variable": "$.a", "IsPresent": true}, {"Not": {"Variable": "$.a", "StringMatches": "a*"}}],
				"Next": "A"}], "Default": "C"}, "C": {"Type": "Succeed"}}}`,
	`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Next": "M", "Branches": [{"StartAt": "Q", "States": {"Q": {"Type": "Task", "Resource": ` +
		`"exec:q", "End": true}}}, {"StartAt": "R", "States": {"R": {"Type": "Wait", "Timestamp": "2025-01-01T00:01:00Z", "End": true}}}], "Retry": ` +
		`[{"ErrorEquals": ["States.ALL"]}]},
			"M": {"Type": "Map", "ItemProcessor": {"StartAt": "N", "States": {"N": {"Type": "Pass", "Parameters": {"i.$": "$$.Map.Item.Index"},
				"End": true}}}, "MaxConcurrency": 1, "End": true}}}`,
	`{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:a", "Arguments": {"x": "{% $states.input.a %}", ` +
		`"n": [1, "{% $v %}"]}, "Output": "{% $states.result.x[0] %}", "Assign": {"v": "{% $states.input.t + 1 %}"}, "TimeoutSeconds": "{% $states.input.t %}",
			"Retry": [{"ErrorEquals": ["States.QueryEvaluationError"], "MaxAttempts": 1}],
			"Catch": [{"ErrorEquals": ["States.ALL"], "Output": {"e": "{% $states.errorOutput.Error %}", "i": "{% $states.input %}"}, "Next": "C"}], "Next": "P"},
		"C": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.e = 'E0' %}", "Next": "W", "Assign": {"v": "{% $uuid() %}"}}, ` +
		`{"Condition": false, "Next": "A"}], "Output": "{% $states.context %}", "Default": "M"},
		"W": {"Type": "Wait", "Seconds": "{% $v ~> $length() %}", "Next": "U"}, "U": {"Type": "Wait", "Timestamp": "{% $now() %}", "Next": "F"},
		"F": {"Type": "Fail", "Error": "{% $states.input.a %}", "Cause": "{% $string($states.context.State.RetryCount) %}"},
		"P": {"Type": "Parallel", "Arguments": "{% $states.input %}", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Succeed", ` +
		`"Output": "{% [$states.input.a, $v] %}"}}}], "Output": "{% $states.result[0] %}", "Next": "M"},
		"M": {"Type": "Map", "Items": "{% $states.input.b %}", "MaxConcurrency": "{% 2 %}", "ItemSelector": {"i": ` +
		`"{% $states.context.Map.Item.Index %}", "v": "{% $states.input.a %}"}, "ItemProcessor": {"StartAt": "N", "States": {"N": {"Type": "Pass",
			"Assign": {"w": "{% $states.input.i %}"}, "End": true}}}, "Output": "{% $states.result.i ~> $sum() %}", "End": true}}}`,
	`{`, `[]`, `{"StartAt": "\ud800", "States": null}`,
}

// FuzzParse: no text makes Parse panic, and a parsed machine never gives an internal error, for any answers of its
// tasks.
func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		m, err := asl.Parse("fuzz", text)
		if err != nil {
			if problems(t, err) == nil {
				t.Fatal("an error without problems")
			}
			return
		}
		s := &simulator{lang: m, task: randomTasks(seed), random: seed, steps: 100}
		s.start(randomJSON(rand.New(rand.NewPCG(seed, 1)), 3))
		if s.fault != nil {
			t.Fatalf("%v\n%s", s.fault, text)
		}
		if s.end != nil && s.end.Failure != nil && s.end.Failure.Code == atom.CodeLanguage {
			t.Fatalf("internal error: %s\n%s", s.end.Failure.Message, text)
		}
	})
}

// randomTasks answers every call with a random result or failure.
func randomTasks(seed uint64) func(call) answer {
	r := rand.New(rand.NewPCG(seed, 2))
	return func(c call) answer {
		a := answer{after: time.Duration(r.IntN(5)) * time.Second}
		switch r.IntN(6) {
		case 0:
			a.failure = &atom.Failure{Code: fmt.Sprintf("E%d", r.IntN(3)), Message: "it broke"}
		case 1:
			a.failure = &atom.Failure{Bare: true}
		case 2:
			a.never = c.timeout > 0
			a.output = "null"
		case 3:
			a.output = c.input.String()
		default:
			a.output = randomJSON(r, 3)
		}
		return a
	}
}

// randomJSON returns a JSON text with names and values that definitions like.
func randomJSON(r *rand.Rand, depth int) string {
	var build func(depth int) any
	build = func(depth int) any {
		switch n := r.IntN(9); {
		case n < 4 && depth > 0:
			object := map[string]any{}
			for _, name := range []string{"a", "b", "x", "t", "left", "e"} {
				if r.IntN(2) == 0 {
					object[name] = build(depth - 1)
				}
			}
			return object
		case n < 6 && depth > 0:
			list := make([]any, r.IntN(4))
			for i := range list {
				list[i] = build(depth - 1)
			}
			return list
		case n < 7:
			return r.IntN(5) - 1
		case n < 8:
			return []string{"", "a", "2025-01-01T00:00:09Z", "ü"}[r.IntN(4)]
		}
		return []any{nil, true, 1.5, 1e300}[r.IntN(4)]
	}
	text, err := json.Marshal(build(depth))
	if err != nil {
		return "null"
	}
	return string(text)
}

// FuzzQuery: no expression in a definition makes Parse panic. The problem of an invalid one is reported inside it. A
// valid one gives neither an internal error nor a value that is too large to pass on.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		`$states.input.a + 1`, `[1..10000000]`, `$pad('', 1e9)`, `($f := function() { $f() }; $f())`, `$states.input.b.(x & "\u00fc\n")`, `"\"`, `order.id`,
		`$states.result`, `$eval('1')`, `$map($states.input.b, function($v, $i) { {$string($i): $v} })`, `/(a+)+$/`, `$states.context.Execution.Input ~> |$|{'a': 1}|`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		text, err := json.Marshal("{%" + expression + "%}")
		if err != nil {
			return
		}
		definition := `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"v": 1}, "Next": "S"}, "S": {"Type": "Pass", "Output":` + "\n"
		definition += string(text) + `, "End": true}}}`
		m, err := asl.Parse("fuzz", []byte(definition))
		if err != nil {
			for _, p := range asl.Validate("fuzz", []byte(definition)) {
				if p.Line != 2 || p.Column > utf8.RuneCount(text) {
					t.Fatalf("%s is not inside of %s", p, text)
				}
			}
			return
		}
		s := &simulator{lang: m}
		s.start(`{"a": 3, "b": [1, {"x": 1, "b": "2"}]}`)
		if s.fault != nil || s.end == nil || s.end.Failure != nil && s.end.Failure.Code == atom.CodeLanguage {
			t.Fatalf("%v, %v", s.fault, s.end)
		}
		if len(s.end.Value) > asl.MaxPayload+1 {
			t.Fatalf("%d bytes", len(s.end.Value))
		}
	})
}

// FuzzIntrinsic: no text makes the parser of intrinsic functions panic, and a valid one never gives an internal error.
func FuzzIntrinsic(f *testing.F) {
	for _, seed := range []string{
		`States.Format('a\\'{}\\{', $.a)`, `States.Array(1, -2.5e3, true, null, $$.State.Name, $v)`, `States.ArrayRange(1, 10, $.a)`,
		`States.Hash(States.JsonToString($), 'MD5')`, `States.MathAdd($.a, States.MathRandom(1, 5, 7))`, `States.StringSplit('a,b', ',')`, `States.UUID( )`,
		`States.JsonMerge($, $, false)`, `States.ArrayPartition($.b, 0)`, `States.Base64Decode('%')`, `$.a[?(@.x == 1)].b`, `States.Format(`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := json.Marshal(text)
		if err != nil {
			return
		}
		m, err := asl.Parse("fuzz", []byte(alone(`{"Type": "Pass", "Parameters": {"x.$": `+string(value)+`}, "Assign": {"v": [1, "b"]}, "End": true}`)))
		if err != nil {
			if len(problems(t, err)) != 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		s := &simulator{lang: m}
		s.start(`{"a": 3, "b": [1, {"x": 1, "b": "2"}]}`)
		if s.fault != nil || s.end == nil || s.end.Failure != nil && s.end.Failure.Code == atom.CodeLanguage {
			t.Fatalf("%v, %v", s.fault, s.end)
		}
	})
}

// Whatever is tested, there is a result or a reason.
func FuzzTestState(f *testing.F) {
	for _, seed := range slices.Concat(fuzzSeeds, []string{`{"Type": "Pass", "End": true}`, `{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "B"}]}`}) {
		f.Add([]byte(seed), "A", []byte(`{"a": [1]}`), []byte(`[1]`))
	}
	f.Fuzz(func(t *testing.T, definition []byte, name string, input, mock []byte) {
		for _, m := range []*teststate.Mock{nil, {Result: mock, FieldValidationMode: "PRESENT"}, {ErrorOutput: &teststate.ErrorOutput{Error: "E0"}}} {
			result, err := teststate.Run(t.Context(), &teststate.Test{
				Definition: definition, StateName: name, Input: atom.FromJSON(input), Mock: m, Attributes: asl.Attributes{RoleARN: "r"}, Now: epoch,
				Call: func(_ string, input atom.Value) (atom.Value, *atom.Failure) { return input, nil },
			})
			if _, ok := errors.AsType[*teststate.Error](err); err != nil && !ok {
				t.Fatal(err)
			}
			if err == nil && result.Status == "" {
				t.Fatal("no status")
			}
		}
	})
}
