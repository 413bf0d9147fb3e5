package asl_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
)

// FuzzParse shows that no text makes Parse panic, and that a machine that was
// parsed never gives an internal error, whatever its tasks answer.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
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
		`{`, `[]`, `{"StartAt": "\ud800", "States": null}`,
	} {
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
