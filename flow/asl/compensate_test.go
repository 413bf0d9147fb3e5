package asl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// booking is a Task state that can be undone.
func booking(name, rest string) string {
	return `"` + name + `": {"Type": "Task", "Resource": "do:` + name + `", "Revert": "undo:` + name + `", ` + rest + `}`
}

// TestCompensation undoes what a catcher names before the machine continues, and the work of a state before its retry.
func TestCompensation(t *testing.T) {
	t.Parallel()
	const fails = `"Next": "Z", "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Z", "Revert": `
	pass := `"Z": {"Type": "Pass", "End": true}`
	inner := `{"StartAt": "X", "States": {` + booking("X", `"Next": "F"`) + `, ` + booking("F", `"End": true`) + `}}`
	for _, c := range []struct {
		name, states string
		fails        map[string]int // how often a state fails
		want         string         // what was undone, in order
		left         string         // what can still be undone
		end          string
	}{
		{
			name:   "the state itself",
			states: booking("A", `"Next": "F"`) + `, ` + booking("F", fails+`"inside"}]`) + `, ` + pass,
			fails:  map[string]int{"F": 1}, want: "F", left: "A",
			end: `SUCCEEDED {"in":1,"e":{"Error":"Boom"}}`,
		},
		{
			name:   "all",
			states: booking("A", `"Next": "B"`) + `, ` + booking("B", `"Next": "F"`) + `, ` + booking("F", fails+`"all"}]`) + `, ` + pass,
			fails:  map[string]int{"F": 1}, want: "F B A",
			end: `SUCCEEDED {"in":1,"e":{"Error":"Boom"}}`,
		},
		{
			name:   "back to a state",
			states: booking("A", `"Next": "B"`) + `, ` + booking("B", `"Next": "C"`) + `, ` + booking("C", `"Next": "F"`) + `, ` + booking("F", fails+`{"To": "B"}}]`) + `, ` + pass,
			fails:  map[string]int{"F": 1}, want: "F C", left: "A B",
			end: `SUCCEEDED {"in":1,"e":{"Error":"Boom"}}`,
		},
		{
			name: "back to its last visit",
			states: booking("A", `"ResultPath": "$.in", "Next": "B"`) + `, ` + booking("B", fails+`{"To": "A"}}]`) + `, ` +
				`"Z": {"Type": "Choice", "Choices": [{"Variable": "$.e", "IsPresent": false, "Next": "A"}, {"Variable": "$.again", "IsPresent": true, "Next": "Y"}], "Default": "R"},
				"R": {"Type": "Pass", "Result": 1, "ResultPath": "$.again", "Next": "A"}, "Y": {"Type": "Pass", "End": true}`,
			fails: map[string]int{"B": 2}, want: "B B#2", left: "A A#2",
			end: `SUCCEEDED {"in":{"in":{"in":1},"e":{"Error":"Boom"},"again":1},"e":{"Error":"Boom"},"again":1}`,
		},
		{
			name:   "a branch's own",
			states: booking("A", `"Next": "P"`) + `, "P": {"Type": "Parallel", "Branches": [{"StartAt": "X", "States": {` + booking("X", `"Next": "F"`) + `, ` + booking("F", fails+`"all"}]`) + `, ` + pass + `}}, {"StartAt": "Y", "States": {` + booking("Y", `"End": true`) + `}}], "End": true}`,
			fails:  map[string]int{"F": 1}, want: "P[0]/F P[0]/X", left: "A P[1]/Y",
			end: `SUCCEEDED [{"in":1,"e":{"Error":"Boom"}},{"in":1}]`,
		},
		{
			name:   "a Parallel",
			states: booking("A", `"Next": "P"`) + `, "P": {"Type": "Parallel", "Branches": [` + inner + `], ` + fails + `"inside"}]}, ` + pass,
			fails:  map[string]int{"F": 1}, want: "P[0]/F P[0]/X", left: "A",
			end: `SUCCEEDED {"in":1,"e":{"Error":"Boom"}}`,
		},
		{
			name:   "before a Parallel is begun again",
			states: booking("A", `"Next": "P"`) + `, "P": {"Type": "Parallel", "Branches": [` + inner + `], "Retry": [{"ErrorEquals": ["Boom"]}], "End": true}`,
			fails:  map[string]int{"F": 2}, want: "P[0]/F P[0]/X P#2[0]/F P#2[0]/X", left: "A P#3[0]/X P#3[0]/F",
			end: `SUCCEEDED [{"in":1}]`,
		},
		{
			name:   "before a Map is begun again",
			states: `"M": {"Type": "Map", "ItemsPath": "$.in", "ItemProcessor": ` + inner + `, "Retry": [{"ErrorEquals": ["States.ResultPathMatchFailure"], "MaxAttempts": 1}], "ResultPath": "$.in.x", "Next": "Z", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z", "Revert": "all"}]}, ` + pass,
			want:   "M[0]/F M[0]/X M#2[0]/F M#2[0]/X",
			end:    `SUCCEEDED {"Error":"States.ResultPathMatchFailure","Cause":"An error occurred while executing the state 'M' (entered at the event id #2). Unable to apply ReferencePath $.in.x to input {\"in\":[7]}"}`,
		},
		{
			name:   "before a task is done again that ended well",
			states: booking("A", `"ResultSelector": {"x.$": "$.no"}, "Retry": [{"ErrorEquals": ["States.ParameterPathFailure"], "MaxAttempts": 1}], "End": true`),
			want:   "A", left: "A#2",
			end: `FAILED States.Runtime: An error occurred while executing the state 'A' (entered at the event id #2). The JSONPath '$.no' specified for the field 'x.$' could not be found in the input '{"in":1}'`,
		},
		{
			name:   "nothing was done yet",
			states: booking("A", `"Next": "F"`) + `, ` + booking("F", `"Parameters": {"x.$": "$.no"}, `+strings.ReplaceAll(fails, "States.ALL", "States.ParameterPathFailure")+`"inside"}]`) + `, ` + pass,
			left:   "A",
			end: `SUCCEEDED {"in":1,"e":{"Error":"States.Runtime","Cause":"An error occurred while executing the state 'F' (entered at the event id #7). The JSONPath '$.no' specified for the field 'x.$' ` +
				`could not be found in the input '{\"in\":1}'"}}`,
		},
		{
			name:   "behind a point of no return",
			states: booking("A", `"Next": "B"`) + `, "B": {"Type": "Task", "Resource": "do:B", "Revert": false, "Next": "C"}, ` + booking("C", `"Next": "F"`) + `, ` + booking("F", fails+`"all"}]`) + `, ` + pass,
			fails:  map[string]int{"F": 1}, want: "F C",
			end: `SUCCEEDED {"in":1,"e":{"Error":"Boom"}}`,
		},
		{
			name:   "what cannot be undone",
			states: booking("A", `"Next": "stuck"`) + `, ` + booking("stuck", `"Next": "F"`) + `, ` + booking("F", fails+`"all"}]`) + `, ` + pass,
			fails:  map[string]int{"F": 1}, want: "F", left: "A stuck",
			end: `FAILED Ebb.RevertFailed: Gone: it is`,
		},
		{
			name: "what cannot be undone is caught by its name",
			states: booking("A", `"Next": "stuck"`) + `, ` + booking("stuck", `"Next": "F"`) + `, ` +
				booking("F", `"Catch": [{"ErrorEquals": ["Ebb.RevertFailed"], "Next": "Z"}, {"ErrorEquals": ["States.ALL"], "Next": "A", "Revert": "all"}], "End": true`) + `, ` + pass,
			fails: map[string]int{"F": 1}, want: "F", left: "A stuck",
			end: `SUCCEEDED {"Error":"Ebb.RevertFailed","Cause":"Gone: it is"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, strings.Replace(machineOf(c.states), `"StartAt": "A"`, `"StartAt": "`+strings.Split(c.states, `"`)[1]+`"`, 1))
			s := &simulator{lang: m, undo: func(path string) *atom.Failure {
				if strings.Contains(path, "stuck") {
					return &atom.Failure{Code: "Gone", Message: "it is"}
				}
				return nil
			}}
			s.task = func(call call) answer {
				if name := strings.TrimPrefix(call.resource, "do:"); c.fails[name] > 0 {
					c.fails[name]--
					return answer{failure: &atom.Failure{Code: "Boom"}}
				}
				return answer{output: call.input.String()}
			}
			input := `{"in":1}`
			if strings.Contains(c.states, `"Map"`) {
				input = `{"in":[7]}`
			}
			s.start(input)
			if s.fault != nil {
				t.Fatal(s.fault)
			}
			if got := ending(s); got != c.end {
				t.Errorf("%s, want %s", got, c.end)
			}
			var left []string
			for _, n := range s.undone {
				left = append(left, n.path())
			}
			if diff := cmp.Diff([]string{c.want, c.left}, []string{strings.Join(s.reverted, " "), strings.Join(left, " ")}); diff != "" {
				t.Errorf("undone and left (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRevertPolicy shows how often an undo is tried.
func TestRevertPolicy(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "do:x", "Revert": {"Resource": "undo:x", "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 4,
		"IntervalSeconds": 2, "BackoffRate": 3, "MaxDelaySeconds": 60, "JitterStrategy": "FULL"}]}, "End": true}`))
	g := m.Grow(&grow.Ask{Run: &grow.RunInfo{}, Index: -1})
	want := atom.RevertPolicy{Attempts: 5, Backoff: atom.Backoff{First: 2 * time.Second, Rate: 3, Max: time.Minute, Jitter: 1}}
	if diff := cmp.Diff(want, g.Add[0].Undo.Policy); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCompensationIsOurs refuses all of it under Strict.
func TestCompensationIsOurs(t *testing.T) {
	t.Parallel()
	for _, state := range []string{
		`"Revert": "undo"`, `"Revert": false`, `"Revert": {"Resource": "undo"}`,
		`"Catch": [{"ErrorEquals": ["E"], "Next": "S", "Revert": "inside"}]`, `"Catch": [{"ErrorEquals": ["E"], "Next": "S", "Revert": {"To": "S"}}]`,
	} {
		if problems := asl.Validate("", []byte(alone(`{"Type": "Task", "Resource": "do:x", `+state+`, "End": true}`)), asl.Strict()); problems.Legal() {
			t.Errorf("legal under Strict: %s", state)
		}
	}
}
