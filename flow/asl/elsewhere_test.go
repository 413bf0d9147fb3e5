package asl_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

// TestTaskToken passes a task its token, records the call's answer in the history, and ends the task by its token. Each
// attempt has its own token.
func TestTaskToken(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken", "HeartbeatSecondsPath": "$.beat",
		"Parameters": {"FunctionName": "f", "Payload": {"in.$": "$", "token.$": "$$.Task.Token"}}, "TimeoutSeconds": 600,
		"Retry": [{"ErrorEquals": ["Busy"]}], "ResultPath": "$.out", "End": true}`))
	var inputs []string
	s := simulate(t, m, `{"beat": 60}`, func(c call) answer {
		inputs = append(inputs, c.input.String())
		if c.attempt == 1 {
			return answer{submitted: `"first"`, failure: &atom.Failure{Code: "Busy"}}
		}
		return answer{submitted: `"second"`, output: `"approved"`}
	})
	if got := ending(s); got != `SUCCEEDED {"beat":60,"out":"approved"}` {
		t.Error(got)
	}
	want := []string{
		`{"FunctionName":"f","Payload":{"in":{"beat":60},"token":"token-1"}}`,
		`{"FunctionName":"f","Payload":{"in":{"beat":60},"token":"token-2"}}`,
	}
	if diff := cmp.Diff(want, inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	wantHistory(t, s, `
		ExecutionStarted 0
		TaskStateEntered 0
		TaskScheduled 2 {"heartbeatInSeconds":60,"region":"us-east-1","resource":"invoke.waitForTaskToken","resourceType":"lambda","timeoutInSeconds":600}
		TaskStarted 3 {"resource":"invoke.waitForTaskToken","resourceType":"lambda"}
		TaskSubmitted 4 {"resource":"invoke.waitForTaskToken","resourceType":"lambda"} "first"
		TaskFailed 5 {"error":"Busy","resource":"invoke.waitForTaskToken","resourceType":"lambda"}
		TaskScheduled 6 {"heartbeatInSeconds":60,"region":"us-east-1","resource":"invoke.waitForTaskToken","resourceType":"lambda","timeoutInSeconds":600}
		TaskStarted 7 {"resource":"invoke.waitForTaskToken","resourceType":"lambda"}
		TaskSubmitted 8 {"resource":"invoke.waitForTaskToken","resourceType":"lambda"} "second"
		TaskSucceeded 9 {"resource":"invoke.waitForTaskToken","resourceType":"lambda"} "approved"
		TaskStateExited 10
		ExecutionSucceeded 11`)
}

// TestActivity lets workers do the work of a state, and names the worker that took it.
func TestActivity(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Task", "Resource": "arn:aws:states:us-east-1:1:activity:a", "HeartbeatSeconds": 10, "End": true}`))
	s := simulate(t, m, `1`, func(c call) answer {
		if c.resource != "" {
			t.Errorf("%s is called", c.resource)
		}
		return answer{worker: "w", output: "2"}
	})
	wantHistory(t, s, `
		ExecutionStarted 0
		TaskStateEntered 0
		ActivityScheduled 2 {"heartbeatInSeconds":10,"resource":"arn:aws:states:us-east-1:1:activity:a"} 1
		ActivityStarted 3 {"workerName":"w"}
		ActivitySucceeded 4 2
		TaskStateExited 5 2
		ExecutionSucceeded 6 2`)

	s = simulate(t, m, `1`, func(call) answer { return answer{failure: &atom.Failure{Code: atom.CodeHeartbeatLost}} })
	if got := ending(s); got != "FAILED States.Timeout: " {
		t.Error(got)
	}
	if got := strings.Join(s.types(), " "); !strings.Contains(got, "ActivityStarted S ActivityTimedOut S ExecutionFailed") {
		t.Error(got)
	}
}

// wantHistory compares the events with lines of type, predecessor, details and, if the test gives it, the body.
func wantHistory(t *testing.T, s *simulator, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i, e := range s.events {
		got := e.Type + " " + itoa(e.Prev)
		if e.Details != nil {
			got += " " + canonical(t, e.Details.String())
		}
		line := ""
		if i < len(lines) {
			line = strings.TrimSpace(lines[i])
		}
		if e.Key != "" && strings.HasSuffix(line, " "+e.Body.String()) {
			got += " " + e.Body.String()
		}
		if got != line {
			t.Errorf("event %d: %s; want %s", i+1, got, line)
		}
	}
	if len(s.events) != len(lines) {
		t.Errorf("%d events; want %d", len(s.events), len(lines))
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// canonical returns a JSON text with the members of objects in order.
func canonical(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
