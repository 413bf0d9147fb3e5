package asl_test

import (
	"slices"
	"strings"
	"testing"
	"time"
)

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
			`SUCCEEDED {"a":1,"e":{"Error":"Boom","Cause":"it broke"}}`,
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
	if got, want := ending(s), `SUCCEEDED [{"i":0,"v":"a","of":3},{"i":1,"v":"b","of":3},{"i":2,"v":"c","of":3}]`; got != want {
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

// TestMapOneAtATime lets each iteration follow from the last event of the iteration before it, as AWS does.
func TestMapOneAtATime(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Map", "MaxConcurrency": 1, "End": true, "ItemProcessor": {"StartAt": "T", "States": {
		"T": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:1:function:f", "Next": "P"}, "P": {"Type": "Pass", "End": true}}}}`))
	s := simulate(t, m, `[1, 2, 3]`, func(call) answer { return answer{output: "1"} })
	var got []int64
	for _, e := range s.events {
		if e.Type == "MapIterationStarted" || e.Type == "MapStateExited" {
			got = append(got, e.Prev)
		}
	}
	// Each iteration has nine events: its success is the last.
	if want := []int64{3, 11, 20, 30}; !slices.Equal(got, want) {
		t.Errorf("iterations and exit follow from %v, want %v", got, want)
	}
}

// TestMapFails checks the history of a Map whose iteration fails.
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
