package decision_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/swf/internal/decision"
)

// TestParseRefuses gives batches of which no part may take effect, and compares the messages with those of the service.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 32769)
	for name, c := range map[string]struct{ batch, want string }{
		"unknown type": {
			`[{"decisionType":"NoSuch"}]`,
			"1 validation error detected: Value 'NoSuch' at 'decisions.1.member.decisionType' failed to satisfy constraint: " +
				"Member must satisfy enum value set: [CompleteWorkflowExecution, StartTimer, " +
				"RequestCancelExternalWorkflowExecution, SignalExternalWorkflowExecution, CancelTimer, RecordMarker, " +
				"ScheduleActivityTask, ContinueAsNewWorkflowExecution, ScheduleLambdaFunction, FailWorkflowExecution, " +
				"RequestCancelActivityTask, StartChildWorkflowExecution, CancelWorkflowExecution]",
		},
		"no type": {`[{}]`, "1 validation error detected: Value null at 'decisions.1.member.decisionType' failed to satisfy " +
			"constraint: Member must not be null"},
		"no attributes": {`[{"decisionType":"StartTimer"}]`, "1 validation error detected: Value null at " +
			"'decisions.1.member.startTimerDecisionAttributes' failed to satisfy constraint: Member must not be null"},
		"two members at once": {
			`[{"decisionType":"StartTimer","startTimerDecisionAttributes":{}}]`,
			"2 validation errors detected: Value null at 'decisions.1.member.startTimerDecisionAttributes.timerId' failed to " +
				"satisfy constraint: Member must not be null; Value null at " +
				"'decisions.1.member.startTimerDecisionAttributes.startToFireTimeout' failed to satisfy constraint: Member must " +
				"not be null",
		},
		"the second decision": {
			`[{"decisionType":"CompleteWorkflowExecution","completeWorkflowExecutionDecisionAttributes":{}},
			{"decisionType":"CancelTimer","cancelTimerDecisionAttributes":{"timerId":""}}]`,
			"1 validation error detected: Value '' at 'decisions.2.member.cancelTimerDecisionAttributes.timerId' failed to " +
				"satisfy constraint: Member must have length greater than or equal to 1",
		},
		"close before the last": {
			`[{"decisionType":"FailWorkflowExecution","failWorkflowExecutionDecisionAttributes":{}},
			{"decisionType":"CancelTimer","cancelTimerDecisionAttributes":{"timerId":"a"}}]`, "Close must be last decision in list",
		},
		"two closes": {
			`[{"decisionType":"ContinueAsNewWorkflowExecution","continueAsNewWorkflowExecutionDecisionAttributes":{}},
			{"decisionType":"CompleteWorkflowExecution","completeWorkflowExecutionDecisionAttributes":{}}]`,
			"Close must be last decision in list",
		},
		"not a list":   {`{}`, "decisions must be a list of structures"},
		"not a string": {`[{"decisionType":7}]`, "decisions.1.member.decisionType must be a string"},
		"attributes of another shape": {
			`[{"decisionType":"CancelTimer","cancelTimerDecisionAttributes":[]}]`,
			"decisions.1.member.cancelTimerDecisionAttributes must be a structure",
		},
		"too long": {
			`[{"decisionType":"RecordMarker","recordMarkerDecisionAttributes":{"markerName":"m","details":"` + long + `"}}]`,
			"1 validation error detected: Value '" + long[:300] + "…' at 'decisions.1.member.recordMarkerDecisionAttributes.details' " +
				"failed to satisfy constraint: Member must have length less than or equal to 32768",
		},
	} {
		batch, err := decision.Parse([]byte(c.batch))
		if err == nil || err.Error() != c.want || batch != nil {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
		var shape *decision.ShapeError
		if strings.HasPrefix(c.want, "decisions") != errors.As(err, &shape) {
			t.Errorf("%s: %T", name, err)
		}
	}
}

// TestConstraints tries values at the edges of each kind of member.
func TestConstraints(t *testing.T) {
	t.Parallel()
	runes := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct {
		kind      decision.Kind
		good, bad []string
	}{
		{decision.ID, []string{"a", runes(256), "a b", "arns", "a#1[2]~", "name:1:d:2be8", "arn:aws:s3:::b/k", "a|b", "x:undo"}, []string{"", runes(257), "a\u0001", "a\u009f", "arn", " a", "a "}},
		{decision.WorkflowID, []string{"name:1:2be8", runes(256)}, []string{"", runes(257), "arn", "a\n", "x:undo"}},
		{decision.ListName, []string{"a", runes(256), "a b"}, []string{"", runes(257), "a:b", "a/b", "a|b", "a\u0001", "arn", " a", "a "}},
		{decision.Name, []string{"a:b/c|d", runes(256)}, []string{"", runes(257)}},
		{decision.Data, []string{"", runes(32768), strings.Repeat("😀", 32768)}, []string{runes(32769)}},
		{decision.Reason, []string{"", runes(256)}, []string{runes(257)}},
		{decision.RunID, []string{"a", runes(64)}, []string{runes(65)}},
		{decision.Timeout, []string{"0", "31536000", "NONE", "00000060"}, []string{"31536001", "-1", "1.5", "none", "+1", "1s", "000000060"}},
		{decision.Duration, []string{"0", "31536000"}, []string{"NONE", "31536001", "x"}},
		{decision.Seconds, []string{"0", "31536000"}, []string{"", "NONE", "31536001", "99999999"}},
		{decision.Lambda, []string{"1", "900"}, []string{"0", "000", "901", "NONE"}},
		{decision.Priority, []string{"0", "-5", "2147483647", "-2147483648"}, []string{"2147483648", "-2147483649", "high", "+1", "1.0"}},
		{decision.Policy, []string{"TERMINATE", "REQUEST_CANCEL", "ABANDON"}, []string{"terminate", "KEEP"}},
		{decision.Role, []string{"arn:aws:iam::1:role/r", runes(1600)}, []string{runes(1601)}},
		{decision.Function, []string{"f", runes(64)}, []string{"", runes(65)}},
	} {
		for _, text := range c.good {
			if problem := decision.Check(c.kind, text); problem != "" {
				t.Errorf("kind %d: %.40q: %s", c.kind, text, problem)
			}
		}
		for _, text := range c.bad {
			if decision.Check(c.kind, text) == "" {
				t.Errorf("kind %d: %.40q is accepted", c.kind, text)
			}
		}
	}
}

// TestParse reads values, and treats an empty optional value other than data as absent.
func TestParse(t *testing.T) {
	t.Parallel()
	batch, err := decision.Parse([]byte(`[{"decisionType":"ScheduleActivityTask","unknown":{},
		"scheduleActivityTaskDecisionAttributes":{"activityType":{"name":"Pay","version":"1"},"activityId":"a1","input":"",
		"heartbeatTimeout":"","taskPriority":"","taskList":{"name":"l"},"control":null,"other":[1]}},
		{"decisionType":"StartChildWorkflowExecution","startChildWorkflowExecutionDecisionAttributes":{
		"workflowType":{"name":"w","version":"2"},"workflowId":"c","tagList":["x","",null]}}]`))
	if err != nil || len(batch) != 2 {
		t.Fatalf("%d decisions, %v", len(batch), err)
	}
	d := &batch[0]
	if d.Name("activityType") != "Pay" || d.Version("activityType") != "1" || d.Name("taskList") != "l" || d.Text("activityId") != "a1" {
		t.Errorf("%+v", d)
	}
	if input := d.Given("input"); input == nil || *input != "" {
		t.Error("empty data is absent")
	}
	for _, absent := range []string{"heartbeatTimeout", "taskPriority", "control"} {
		if d.Given(absent) != nil {
			t.Errorf("%s is there", absent)
		}
	}
	if tags := batch[1].Tags("tagList"); len(tags) != 3 {
		t.Errorf("tags %q", tags)
	}
	for _, kind := range []string{"Complete", "Fail", "Cancel", "ContinueAsNew"} { // all of their attributes are optional
		batch, err := decision.Parse([]byte(`[{"decisionType":"` + kind + `WorkflowExecution"}]`))
		if err != nil || len(batch) != 1 || batch[0].Given("result") != nil {
			t.Errorf("%s without attributes: %v, %v", kind, batch, err)
		}
	}
	for _, empty := range []string{"", "null", "[]", " "} {
		if batch, err := decision.Parse([]byte(empty)); err != nil || len(batch) != 0 {
			t.Errorf("%q: %v, %v", empty, batch, err)
		}
	}
}

// FuzzParse gives arbitrary bytes: Parse neither panics nor accepts a batch with a decision without a type.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"decisionType":"StartTimer","startTimerDecisionAttributes":{"timerId":"a","startToFireTimeout":"1"}}]`))
	f.Add([]byte(`[null,{"decisionType":"RecordMarker","recordMarkerDecisionAttributes":{"markerName":"\ud800"}}]`))
	f.Add([]byte(`[{"decisionType":"StartChildWorkflowExecution","startChildWorkflowExecutionDecisionAttributes":{"tagList":[null,1]}}]`))
	f.Fuzz(func(t *testing.T, wire []byte) {
		batch, err := decision.Parse(wire)
		for i, d := range batch {
			if err != nil || d.Entry == nil || d.Closes && i < len(batch)-1 {
				t.Errorf("%s: decision %d: %+v, %v", wire, i, d, err)
			}
			for _, m := range d.Members {
				if text := d.Given(m.Name); text != nil && decision.Check(m.Kind, *text) != "" {
					t.Errorf("%s: %s violates its constraint", wire, m.Name)
				}
			}
		}
	})
}
