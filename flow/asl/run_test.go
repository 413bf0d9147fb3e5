package asl_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
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

// TestUnknownState shows that a run whose definition was exchanged for another
// fails and does not panic.
func TestUnknownState(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Succeed"}`))
	for _, cause := range []grow.Cause{
		{Kind: grow.Ended, Note: atom.FromJSON([]byte(`{"s":"Gone"}`))},
		{Kind: grow.Ended, Note: atom.FromJSON([]byte(`[`))},
		{Kind: grow.Continue},
		{Kind: grow.Joined, Note: atom.FromJSON([]byte(`{"s":"S"}`))},
	} {
		g := m.Grow(&grow.Ask{Run: &grow.RunInfo{}, Index: -1, Cause: cause, Event: 1})
		if g.End == nil || g.End.Failure == nil || g.End.Failure.Code != atom.CodeLanguage {
			t.Errorf("%v: %+v, want a failure with code %s", cause.Note, g.End, atom.CodeLanguage)
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
