package asl_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chain returns the types of the events, each with its predecessor.
func (s *simulator) chain() string {
	var lines []string
	for _, e := range s.events {
		lines = append(lines, fmt.Sprintf("%s<%d", e.Type, e.Prev))
	}
	return strings.Join(lines, " ")
}

// TestToldOfFailures checks the history if something inside a Parallel or Map state fails, or the state itself.
func TestToldOfFailures(t *testing.T) {
	t.Parallel()
	in := func(state string) string { return `{"StartAt": "I", "States": {"I": ` + state + `}}` }
	parallel := func(branch, fields string) string {
		return alone(`{"Type": "Parallel", "Branches": [` + in(branch) + `], ` + fields + ` "End": true}`)
	}
	over := func(fields, state string) string {
		return alone(`{"Type": "Map", "MaxConcurrency": 1, "ItemProcessor": ` + in(state) + `, ` + fields + ` "End": true}`)
	}
	const (
		begun  = "ExecutionStarted<0 ParallelStateEntered<0 ParallelStateStarted<2 "
		mapped = "ExecutionStarted<0 MapStateEntered<0 MapStateStarted<2 "
		fail   = `{"Type": "Fail", "Error": "Mine"}`
		noPath = `{"Type": "Pass", "Parameters": {"x.$": "$.no"}, "End": true}`
		query  = `{"QueryLanguage": "JSONata", "Type": "Pass", "Output": "{% $states.input.no %}", "End": true}`
	)
	for _, c := range []struct{ name, definition, input, want string }{
		{
			"what fits no definition ends the execution", parallel(noPath, `"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "S"}],`), `{}`,
			begun + "PassStateEntered<3 ExecutionFailed<4",
		},
		{
			"and is no end of the branch's task", parallel(`{"Type": "Task", "Resource": "exec:x", "Parameters": {"x.$": "$.no"}, "End": true}`, ``), `{}`,
			begun + "TaskStateEntered<3 ExecutionFailed<4",
		},
		{
			"nor of an iteration", over(``, noPath), `[1, 2]`,
			mapped + "MapIterationStarted<3 PassStateEntered<4 ExecutionFailed<5",
		},
		{
			"nor of one that does not start", over(`"ItemSelector": {"x.$": "$$.Map.Item.Value.no"},`, noPath), `[1, 2]`,
			mapped + "ExecutionFailed<3",
		},
		{
			"a query ends an iteration", over(``, query), `[1, 2]`,
			mapped + "MapIterationStarted<3 PassStateEntered<4 EvaluationFailed<4 MapIterationFailed<6 MapStateFailed<6 ExecutionFailed<8",
		},
		{
			"a state that is tried again has not failed", parallel(fail, `"Retry": [{"ErrorEquals": ["Mine"], "MaxAttempts": 1}],`), `{}`,
			begun + "FailStateEntered<3 ParallelStateStarted<4 FailStateEntered<5 ParallelStateFailed<6 ExecutionFailed<7",
		},
		{
			"a catcher that fails", alone(`{"QueryLanguage": "JSONata", "Type": "Parallel", "Branches": [` + in(fail) +
				`], "Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% $states.input.no %}", "Next": "S"}], "End": true}`), `{}`,
			begun + "FailStateEntered<3 ParallelStateFailed<4 EvaluationFailed<4 ParallelStateFailed<6 ExecutionFailed<7",
		},
		{
			"the result cannot be used", parallel(`{"Type": "Succeed"}`, `"ResultSelector": {"x.$": "$.no"},`), `{}`,
			begun + "SucceedStateEntered<3 SucceedStateExited<4 ParallelStateSucceeded<5 ExecutionFailed<6",
		},
		{"nothing to go over", over(``, noPath), `[]`, mapped + "MapStateSucceeded<3 MapStateExited<3 ExecutionSucceeded<5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, simulate(t, parse(t, c.definition), c.input, nil).chain()); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}

// TestToldOfStop: the history of a stopped execution has the ends of map runs, but not of states.
func TestToldOfStop(t *testing.T) {
	t.Parallel()
	const wait = `{"StartAt": "%s", "States": {"%[1]s": {"Type": "Wait", "Seconds": 9, "End": true}}}`
	apart := strings.Replace(fmt.Sprintf(wait, "B"), `{`, `{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, `, 1)
	run := `{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemProcessor": ` + apart + `, "End": true}}}`
	m := parse(t, alone(`{"Type": "Parallel", "Branches": [`+fmt.Sprintf(wait, "A")+`, `+run+`], "End": true}`))
	s := &simulator{lang: m, stopAt: epoch.Add(time.Second)}
	s.start(`[1, 2]`)
	const want = "ExecutionStarted<0 ParallelStateEntered<0 ParallelStateStarted<2 WaitStateEntered<3 " +
		"MapStateEntered<3 MapStateStarted<5 MapRunStarted<6 MapRunAborted<0 ExecutionAborted<0"
	if diff := cmp.Diff(want, s.chain()); diff != "" || s.fault != nil {
		t.Errorf("%v; history (-want +got):\n%s", s.fault, diff)
	}
}

// TestContextPathCause: the cause of a path into the context object has the path as it is written.
func TestContextPathCause(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Pass", "Parameters": {"x.$": "$$.Execution.Input.no"}, "End": true}`))
	want := "FAILED States.Runtime: " + inS + "The JSONPath '$$.Execution.Input.no' specified for the field 'x.$' could not be found in the input '{"
	if got := ending(simulate(t, m, `{}`, nil)); !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPathCauses checks the causes of a path that names nothing, by its place.
func TestPathCauses(t *testing.T) {
	t.Parallel()
	parameters := func(x string) string {
		return `{"Type": "Pass", "Parameters": {"x.$": ` + quoted(x) + `}, "End": true}`
	}
	function := func(call, argument string) string {
		return "States.Runtime: " + inS + "The function '" + call + "' had the following error: The JsonPath argument for the field '" + argument +
			`' could not be found in the input '{"a":[1]}'`
	}
	for _, c := range []struct{ name, state, want string }{
		{"behind the end", parameters("$.a[3]"), `{"x":null}`},
		{"below what is behind the end", parameters("$.a[3].b"), "States.Runtime: " + inS +
			`The JSONPath '$.a[3].b' specified for the field 'x.$' could not be found in the input '{"a":[1]}'`},
		{"before the begin", parameters("$.a[-3]"), "States.Runtime: " + inS +
			`The JSONPath '$.a[-3]' specified for the field 'x.$' could not be found in the input '{"a":[1]}'`},
		{"negative index", parameters("$.a[-1]"), "States.Runtime: " + inS +
			`The JSONPath '$.a[-1]' specified for the field 'x.$' could not be found in the input '{"a":[1]}'`},
		{"last element", parameters("$.a[(@.length-1)]"), `{"x":1}`},
		{"function", parameters("$.a.sum()"), "States.Runtime: " + inS +
			`The JSONPath '$.a.sum()' specified for the field 'x.$' could not be found in the input '{"a":[1]}'`},
		{"function in InputPath", `{"Type": "Pass", "InputPath": "$.a.length()", "End": true}`, "States.Runtime: " + inS +
			`Invalid path '$.a.length()' : Property ['length()'] not found in path $['a']`},
		{"text with slashes", parameters("$.a[?(@==/rice/hot)]"), `{"x":[]}`},
		{"blanks around", parameters(" $.a "), `{"x":[1]}`},
		{"blanks around in the context object", `{"Type": "Pass", "OutputPath": " $$.State.Name ", "End": true}`, `"S"`},
		{"argument", parameters("States.Format('{}', $.b)"), function("States.Format('{}', $.b)", "$.b")},
		{"argument behind the end", parameters("States.Array($.a[3])"), function("States.Array($.a[3])", "$.a[3]")},
		{"argument of an argument", parameters("States.Array(States.Array( $.b ))"), function("States.Array(States.Array( $.b ))", "$.b")},
		{"argument in the context object", parameters("States.Array($$.No.Way)"), function("States.Array($$.No.Way)", "$.No.Way")},
		{"argument of another kind", parameters("States.Array($.a[0][0])"), "States.Runtime: " + inS +
			"The function 'States.Array($.a[0][0])' had the following error: Filter: [0] can only be applied to arrays. Current context is: 1"},
		{"error", `{"Type": "Fail", "ErrorPath": "$.b"}`, "States.Runtime: " + inS +
			`The JSONPath '$.b' specified for the field 'ErrorPath' could not be found in the input '{"a":[1]}'`},
		{
			"items", `{"Type": "Map", "ItemsPath": "$.b", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}, "End": true}`,
			`States.ReferencePathConflict: Unable to apply step "b" to input {"a":[1]}`,
		},
		{"in the context object", `{"Type": "Pass", "InputPath": "$$.Execution.Input.n", "End": true}`, "States.Runtime: " + inS +
			`Invalid path '$.Execution.Input.n' : No results for path: $['Execution']['Input']['n']`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.TrimPrefix(strings.TrimPrefix(ending(simulate(t, parse(t, alone(c.state)), `{"a":[1]}`, nil)), "SUCCEEDED "), "FAILED ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNegativeConcurrency shows that it is not taken for all at once.
func TestNegativeConcurrency(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Map", "ItemsPath": "$.a", "MaxConcurrencyPath": "$.n", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}}, "End": true}`))
	const want = "FAILED States.Runtime: " + inS + "Expected non-negative integer for MaxConcurrency, got '-1' instead."
	if got := ending(simulate(t, m, `{"a": [], "n": -1}`, nil)); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
