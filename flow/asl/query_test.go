package asl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// queried returns the definition of a machine in JSONata of one state.
func queried(state string) string {
	return `{"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": ` + state + `}}`
}

// TestQueries checks the outputs of states in JSONata.
func TestQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, state, input, want string }{
		{"pass", `{"Type": "Pass", "End": true}`, `{"b": 1, "a": 2}`, `{"b": 1, "a": 2}`},
		{
			"a document keeps its order and its literals", `{"Type": "Pass", "Output": {"z": 1.50, "b": ["{% $states.input.n + 1 %}", null, true, "ü\n"], ` +
				`"a": {"{% 1 %}": " {% 1 %} "}, "n.$": "$.n"}, "End": true}`,
			`{"n": 41}`, `{"z":1.50,"b":[42,null,true,"ü\n"],"a":{"{% 1 %}":" {% 1 %} "},"n.$":"$.n"}`,
		},
		{"one expression", `{"Type": "Succeed", "Output": "{%$states.input.a[n>1].n%}"}`, `{"a": [{"n": 1}, {"n": 2}, {"n": 3}]}`, `[2,3]`},
		{"the order of members stays", `{"Type": "Succeed", "Output": "{% $merge([$states.input, {'a': 1}]) %}"}`, `{"z": 1, "a": 0}`, `{"z":1,"a":1}`},
		{"large numbers stay", `{"Type": "Succeed", "Output": "{% $states.input %}"}`, `{"n": 9007199254740993}`, `{"n":9007199254740993}`},
		{"time", `{"Type": "Succeed", "Output": "{% [$now(), $millis()] %}"}`, `{}`, `["2025-01-01T00:00:00.000Z",1735689600000]`},
		{
			"context", `{"Type": "Pass", "Output": "{% $states.context.{'e': Execution.Id, 's': State.Name, 't': State.EnteredTime, 'i': Execution.Input.a} %}", ` +
				`"End": true}`,
			`{"a": 3}`, `{"e":"run-1","s":"S","t":"2025-01-01T00:00:00.000Z","i":3}`,
		},
		{"all of $states", `{"Type": "Succeed", "Output": "{% $keys($states) %}"}`, `{}`, `["input","context"]`},
		{
			"task", `{"Type": "Task", "Resource": "exec:x", "Arguments": {"n": "{% $states.input.n * 2 %}"}, "Output": {"r": "{% $states.result.n %}", ` +
				`"i": "{% $states.input.n %}", "k": "{% $keys($states) %}"}, "End": true}`,
			`{"n": 3}`, `{"r":6,"i":3,"k":["input","context","result"]}`,
		},
		{"task without arguments or output", `{"Type": "Task", "Resource": "exec:x", "End": true}`, `{"n": 3}`, `{"n": 3}`},
		{
			"choice", `{"Type": "Choice", "Choices": [{"Condition": false, "Next": "E"}, {"Condition": "{% $states.input.n < 3 %}", "Next": "E", ` +
				`"Output": "small"}], "Output": "{% $states.input.n %}", "Default": "E"}, "E": {"Type": "Succeed"}`,
			`{"n": 7}`, `7`,
		},
		{
			"a rule's output", `{"Type": "Choice", "Choices": [{"Condition": true, "Next": "E", "Output": "{% $states.input.n & '' %}"}], ` +
				`"Output": 1}, "E": {"Type": "Succeed"}`,
			`{"n": 7}`, `"7"`,
		},
		{
			"wait", `{"Type": "Wait", "Seconds": "{% $states.input.n %}", "Output": "{% $now() %}", "End": true}`,
			`{"n": 90}`, `"2025-01-01T00:01:30.000Z"`,
		},
		{
			"wait until", `{"Type": "Wait", "Timestamp": "{% $states.input.t %}", "Output": "{% $now() %}", "End": true}`,
			`{"t": "2025-01-01T01:00:00+00:30"}`, `"2025-01-01T00:30:00.000Z"`,
		},
		{
			"parallel", `{"Type": "Parallel", "Arguments": {"n": "{% $states.input.n + 1 %}"}, "Branches": [` +
				`{"StartAt": "A", "States": {"A": {"Type": "Pass", "Output": "{% $states.input.n %}", "End": true}}}, ` +
				`{"StartAt": "B", "States": {"B": {"Type": "Pass", "Output": "{% $states.context.State.Name %}", "End": true}}}], ` +
				`"Output": "{% $append($states.result, $states.input.n) %}", "End": true}`,
			`{"n": 3}`, `[4,"B",3]`,
		},
		{
			"map", `{"Type": "Map", "Items": "{% $states.input.of %}", "MaxConcurrency": "{% 1 + 1 %}", "ItemSelector": {"i": ` +
				`"{% $states.context.Map.Item.Index %}", "v": "{% $states.context.Map.Item.Value * $states.input.by %}"}, ` +
				`"ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "Output": "{% $states.input.v + $states.context.Map.Item.Index %}", ` +
				`"End": true}}}, "Output": "{% $sum($states.result) %}", "End": true}`,
			`{"of": [1, 2, 3], "by": 10}`, `63`,
		},
		{
			"map over its input", `{"Type": "Map", "ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}, "End": true}`,
			`[1, 2]`, `[1,2]`,
		},
		{
			"map over a list written out", `{"Type": "Map", "Items": ["{% $states.input %}", 2], "ItemProcessor": {"StartAt": "A", "States": {` +
				`"A": {"Type": "Pass", "End": true}}}, "End": true}`,
			`1`, `[1,2]`,
		},
		{"fail", `{"Type": "Fail", "Error": "{% $states.input.e %}", "Cause": "{% 'it ' & $states.input.c %}"}`, `{"e": "E", "c": "broke"}`, `FAILED E: it broke`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if !strings.HasPrefix(want, "FAILED") {
				want = "SUCCEEDED " + want
			}
			if got := ending(simulate(t, parse(t, queried(c.state)), c.input, nil)); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestQueryLongFault shows that an expression cannot fail with a text of megabytes.
func TestQueryLongFault(t *testing.T) {
	t.Parallel()
	got := ending(simulate(t, parse(t, queried(`{"Type": "Pass", "Output": "{% $error($pad('', 3000000, 'x')) %}", "End": true}`)), `{}`, nil))
	if len(got) > 34<<10 || !strings.Contains(got, "threw an error") {
		t.Errorf("%d bytes, which begin with %.300s", len(got), got)
	}
}

// TestQueryFaults checks the messages about expressions that fail, and their positions.
func TestQueryFaults(t *testing.T) {
	t.Parallel()
	const expression = "The JSONata expression '%s' specified for the field '%s' %s"
	said := func(expr, field, what string) string { return fmt.Sprintf(expression, expr, field, what) }
	mapped := func(items string) string {
		return `{"Type": "Map", ` + items + `"ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}, "End": true}`
	}
	for _, c := range []struct{ name, state, location, want string }{
		{
			"undefined", `{"Type": "Pass", "Output": {"a": [1, {"b/c": "{% $states.input.nothing %}"}]}, "End": true}`,
			"Output/a[1]/b/c", said("$states.input.nothing", "Output/a[1]/b/c", "returned nothing (undefined)."),
		},
		{
			"error", `{"Type": "Pass", "Output": "{% $states.input.a + '1' %}", "End": true}`,
			"Output", said("$states.input.a + '1'", "Output", `threw an error during evaluation. T2002: The right side of the "+" operator must evaluate to a number`),
		},
		{
			"limit", `{"Type": "Pass", "Output": "{% ($f := function($n) { 1 + $f($n) }; $f(1)) %}", "End": true}`,
			"Output", said("($f := function($n) { 1 + $f($n) }; $f(1))", "Output",
				"threw an error during evaluation: Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive."),
		},
		{
			"internal", `{"Type": "Pass", "Output": "{% $base64decode('!!!') %}", "End": true}`,
			"Output", said("$base64decode('!!!')", "Output", "threw an internal error during evaluation."),
		},
		{"function", `{"Type": "Succeed", "Output": "{% $sum %}"}`, "Output", said("$sum", "Output", "returned an unsupported result type.")},
		{
			"condition", `{"Type": "Choice", "Choices": [{"Condition": "{% false %}", "Next": "E"}, {"Condition": "{% 'yes' %}", "Next": "E"}]}, ` +
				`"E": {"Type": "Succeed"}`,
			"Choices[1]/Condition", said("'yes'", "Choices[1]/Condition", `returned an unexpected result type. Expected 'boolean', but was 'string' for value: "yes"`),
		},
		{
			"assign", `{"Type": "Pass", "Assign": {"x": 1, "y": {"z": "{% $y %}"}}, "End": true}`,
			"Assign/y/z", said("$y", "Assign/y/z", "returned nothing (undefined)."),
		},
		{"items", mapped(`"Items": "{% {} %}", `), "Items", said("{}", "Items", `returned an unexpected result type. Expected 'array', but was 'object' for value: {}`)},
		{"no items", mapped(``), "", `Map state input must be an array but was: {"a":1}`},
		{"seconds", `{"Type": "Wait", "Seconds": "{% 1.5 %}", "End": true}`, "Seconds", "The Seconds field cannot be parsed as an integer: 1.5"},
		{"negative seconds", `{"Type": "Wait", "Seconds": "{% -1 %}", "End": true}`, "Seconds", "Seconds must be between 0 and 99999999 but was: -1"},
		{
			"no timestamp", `{"Type": "Wait", "Timestamp": "{% '2025-01-01' %}", "End": true}`,
			"Timestamp", "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: 2025-01-01",
		},
		{
			"timeout", `{"Type": "Task", "Resource": "exec:x", "TimeoutSeconds": "{% 0 %}", "End": true}`,
			"TimeoutSeconds", "TimeoutSeconds must be between 1 and 99999999 but was: 0",
		},
		{
			"error of a Fail state", `{"Type": "Fail", "Error": "{% 7 %}"}`,
			"Error", said("7", "Error", `returned an unexpected result type. Expected 'string', but was 'number' for value: 7`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, parse(t, queried(c.state)), `{"a":1}`, nil)
			cause := inS + c.want
			if got, want := ending(s), "FAILED States.QueryEvaluationError: "+cause; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			want := map[string]any{"state": "S", "error": "States.QueryEvaluationError", "cause": cause}
			if c.location != "" {
				want["location"] = c.location
			}
			var got map[string]any
			for _, e := range s.events {
				if e.Type == "EvaluationFailed" {
					if err := e.Details.Decode(&got); err != nil {
						t.Fatal(err)
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("details of EvaluationFailed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueryRetry: an evaluation that failed is retried and caught like any other failure, before the task and after it.
func TestQueryRetry(t *testing.T) {
	t.Parallel()
	handled := func(field string) string {
		return `{"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "exec:x", ` + field + `,
			"Retry": [{"ErrorEquals": ["States.QueryEvaluationError"], "MaxAttempts": 2, "IntervalSeconds": 5}],
			"Catch": [{"ErrorEquals": ["States.ALL"], "Output": {"e": "{% $states.errorOutput.Error %}", "n": "{% $states.input.n %}"},
				"Assign": {"cause": "{% $states.errorOutput.Cause %}"}, "Next": "E"}], "Next": "E"},
			"E": {"Type": "Succeed", "Output": "{% [$states.input, $now(), $exists($cause)] %}"}}}`
	}
	const late = `"States.QueryEvaluationError","n":3},"2025-01-01T00:00:15.000Z",true]`
	for _, c := range []struct{ name, field, want string }{
		{"arguments", `"Arguments": "{% $states.input.nothing %}"`, `[{"e":` + late},
		{"output", `"Output": "{% $states.input.nothing %}"`, `[{"e":` + late},
		{
			"arguments that get better", `"Arguments": {"n": "{% $states.context.State.RetryCount > 1 ? 7 %}"}`,
			`[{"n":7},"2025-01-01T00:00:15.000Z",false]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := simulate(t, parse(t, handled(c.field)), `{"n": 3}`, nil)
			if got, want := ending(s), "SUCCEEDED "+c.want; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestQueryRetryOfMap shows that a Map state whose items could not be found is
// begun again, and that its pauses have names of their own.
func TestQueryRetryOfMap(t *testing.T) {
	t.Parallel()
	m := parse(t, queried(`{"Type": "Map", "Items": "{% $states.context.State.RetryCount = 2 ? [1] : 0 %}", "End": true,
		"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1}],
		"ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "exec:x", "End": true}}}}`))
	var paths []string
	s := simulate(t, m, `{}`, func(c call) answer {
		paths = append(paths, c.path)
		return answer{output: "7"}
	})
	if got, want := ending(s), "SUCCEEDED [7]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"S#3[0]/A"}, paths); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if took := s.now.Sub(epoch); took != 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestQueryToken shows that each attempt of a task is given the token of its own.
func TestQueryToken(t *testing.T) {
	t.Parallel()
	m := parse(t, queried(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "End": true,
		"Arguments": {"FunctionName": "f", "Payload": "{% $states.context.Task.Token & '/' & $states.context.State.RetryCount %}"},
		"Retry": [{"ErrorEquals": ["Busy"]}], "Output": "{% $states.result & '!' %}"}`))
	var inputs []string
	s := simulate(t, m, `{}`, func(c call) answer {
		inputs = append(inputs, c.input.String())
		if c.attempt == 1 {
			return answer{failure: &atom.Failure{Code: "Busy"}}
		}
		return answer{output: `"approved"`}
	})
	if got, want := ending(s), `SUCCEEDED "approved!"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []string{`{"FunctionName":"f","Payload":"token-1/0"}`, `{"FunctionName":"f","Payload":"token-2/1"}`}
	if diff := cmp.Diff(want, inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
}

// TestQueryLanguages shows machines in which both languages are used: each state
// sees the other's variables and data.
func TestQueryLanguages(t *testing.T) {
	t.Parallel()
	s := simulate(t, parse(t, `{"StartAt": "A", "States": {
		"A": {"Type": "Pass", "Assign": {"n.$": "$.n", "list": [1, 2]}, "Next": "B"},
		"B": {"QueryLanguage": "JSONata", "Type": "Pass", "Assign": {"n": "{% $n + 1 %}", "was": "{% $n %}"},
			"Output": {"n": "{% $n %}", "of": "{% $list ~> $map(function($x) { {'x': $x} }) %}"}, "Next": "C"},
		"C": {"Type": "Map", "ItemsPath": "$.of", "ItemProcessor": {"StartAt": "D", "States": {
			"D": {"QueryLanguage": "JSONata", "Type": "Pass", "Assign": {"inner": "{% $states.input.x %}"}, "Output": "{% $states.input.x + $n %}", "Next": "E"},
			"E": {"Type": "Pass", "Parameters": {"d.$": "$", "inner.$": "$inner", "was.$": "$was"}, "End": true}}}, "End": true}}}`), `{"n": 5}`, nil)
	if got, want := ending(s), `SUCCEEDED [{"d":7,"inner":1,"was":5},{"d":8,"inner":2,"was":5}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestQueryHistory checks the predecessors of the events of a failed evaluation.
func TestQueryHistory(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {
		"A": {"Type": "Pass", "Assign": {"x": [1]}, "Next": "M"},
		"M": {"Type": "Map", "Items": "{% $x[0] %}", "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}, "Next": "E",
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "T"}]},
		"T": {"Type": "Task", "Resource": "exec:x", "Output": "{% $nothing %}", "Next": "E"},
		"E": {"Type": "Succeed"}}}`)
	var got []string
	for i, e := range simulate(t, m, `{}`, nil).events {
		got = append(got, fmt.Sprintf("%d<%d %s %s %s", i+1, e.Prev, e.Type, e.Name, assigned(t, e)))
	}
	want := []string{
		"1<0 ExecutionStarted  ", "2<0 PassStateEntered A ", `3<2 PassStateExited A {"x":[1]}`,
		"4<3 MapStateEntered M ", "5<3 EvaluationFailed M ", "6<5 MapStateFailed M ", "7<6 MapStateExited M ",
		"8<7 TaskStateEntered T ", "9<8 TaskScheduled T ", "10<9 TaskStarted T ", "11<10 TaskSucceeded T ", "12<11 EvaluationFailed T ",
		"13<12 ExecutionFailed  ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// assigned returns the variables in an event.
func assigned(t *testing.T, e grow.Event) string {
	t.Helper()
	var details struct {
		AssignedVariables json.RawMessage `json:"assignedVariables"`
	}
	if err := e.Details.Decode(&details); err != nil {
		t.Fatal(err)
	}
	return string(details.AssignedVariables)
}

// TestQueryBounds: no expression takes long or returns a value that a payload cannot be, for any number of evaluations.
func TestQueryBounds(t *testing.T) {
	t.Parallel()
	const tooLarge = "FAILED States.DataLimitExceeded: The state/task 'S' returned a result with a size exceeding the maximum number of bytes service limit."
	many := func(expression string) string { return "[" + strings.Repeat(`"{% `+expression+` %}", `, 5000) + "0]" }
	for _, c := range []struct{ name, state, want string }{
		{"a large output", `{"Type": "Succeed", "Output": "{% [1..100000] %}"}`, tooLarge},
		{"many outputs", `{"Type": "Succeed", "Output": ` + many(`$pad('', 100000, 'x')`) + `}`, tooLarge},
		{"a large argument", `{"Type": "Task", "Resource": "exec:x", "Arguments": "{% $pad('', 300000) %}", "End": true}`, tooLarge},
		{"large items", `{"Type": "Map", "Items": "{% [1..100000] %}", "ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}, ` +
			`"End": true}`, tooLarge},
		{"a large variable", `{"Type": "Pass", "Assign": {"x": "{% $pad('', 300000) %}"}, "End": true}`, tooLarge},
		{
			"many long evaluations", `{"Type": "Pass", "Output": ` + many(`$count([1..100000].($*$))`) + `, "End": true}`,
			"timeout: Check for infinite loop",
		},
		{"a long regular expression", `{"Type": "Pass", "Output": "{% $match($pad('', 5000, 'a') & 'b', /(a+)+$/) %}", "End": true}`, "FAILED States.QueryEvaluationError"},
		{"a large cause", `{"Type": "Wait", "Seconds": "{% [1..100000] %}", "End": true}`, "FAILED States.QueryEvaluationError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := parse(t, queried(c.state))
			start := time.Now()
			got := ending(simulate(t, m, `{}`, nil))
			if !strings.Contains(got, c.want) {
				t.Errorf("%.300s, want %s", got, c.want)
			}
			if len(got) > 40<<10 {
				t.Errorf("a failure of %d bytes", len(got))
			}
			if took := time.Since(start); took > 5*time.Minute {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestQueryAnswers shows that one answer does not do the work of many visits that
// each take long.
func TestQueryAnswers(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {
		"A": {"Type": "Pass", "Output": "{% $states.input + ($count([1..100000].($*$)) > 0 ? 1) %}", "Next": "B"},
		"B": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input < 12 %}", "Next": "A"}], "Default": "E"}, "E": {"Type": "Succeed"}}}`)
	s := simulate(t, m, `0`, nil)
	if got, want := ending(s), "SUCCEEDED 12"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s.asked < 2 || s.asked > 12 {
		t.Errorf("%d questions", s.asked)
	}
}

// TestQueryRevert checks the input of the task that undoes a state in JSONata.
func TestQueryRevert(t *testing.T) {
	t.Parallel()
	m := parse(t, queried(`{"Type": "Task", "Resource": "exec:x", "Next": "F", "Revert": {"Resource": "exec:y",
		"Arguments": {"id": "{% $states.input.Result.id %}", "was": "{% $states.input.Outcome %}", "in": "{% $states.context.State.Name %}"}}},
		"F": {"Type": "Fail"}`))
	s := simulate(t, m, `{}`, nil)
	if len(s.undone) != 1 {
		t.Fatalf("%d nodes to undo", len(s.undone))
	}
	n := s.undone[0]
	got, err := m.Undo(&grow.UndoAsk{Run: s.run, Path: n.path(), Spec: &n.spec, Did: atom.Done(atom.FromJSON([]byte(`{"id": 7}`))), Now: epoch})
	if want := `{"id":7,"was":"Done","in":"S"}`; err != nil || got.String() != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
