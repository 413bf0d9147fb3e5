package asl_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

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
			`SUCCEEDED {"Error":"Boom","Cause":"it broke"}`,
		},
		{
			"with the input", `{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Yes"}`, failure("Boom"),
			`SUCCEEDED {"in":1,"e":{"Error":"Boom","Cause":"it broke"}}`,
		},
		{"without the error", `{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Yes"}`, failure("Boom"), `SUCCEEDED {"in":1}`},
		{"not", `{"ErrorEquals": ["Other"], "Next": "Yes"}`, failure("Boom"), `FAILED Boom: it broke`},
		{
			"no name", `{"ErrorEquals": ["Lambda.Unknown"], "Next": "No"}, {"ErrorEquals": ["States.TaskFailed"], "Next": "Yes"}`,
			answer{failure: &atom.Failure{Bare: true}},
			`SUCCEEDED {"Error":null,"Cause":null}`,
		},
		{
			"runtime is not caught", `{"ErrorEquals": ["States.Runtime"], "Next": "Yes"}, {"ErrorEquals": ["States.ALL"], "Next": "Yes"}`,
			answer{output: `{}`},
			`FAILED States.Runtime: ` + inS + `Invalid path '$.no' : No results for path: $['no']`,
		},
		{
			"too large a result", `{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Yes"}`, failure(atom.CodeTooLarge),
			`SUCCEEDED {"in":1,"e":{"Error":"States.DataLimitExceeded","Cause":"The state/task 'exec' returned a result with a size exceeding the maximum number of bytes service ` +
				`limit."}}`,
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
