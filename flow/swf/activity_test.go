package swf_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// TestActivity schedules activities and ends them in each way that a worker can.
func TestActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(activity("a"))
	if got, want := r.events[4].Details.String(), `{"activityType":{"name":"at","version":"1"},"activityId":"a","input":"in-a",`+
		`"control":"ctl-a","scheduleToStartTimeout":"50","scheduleToCloseTimeout":"60","startToCloseTimeout":"40",`+
		`"taskList":{"name":"al"},"taskPriority":"7","decisionTaskCompletedEventId":4,"heartbeatTimeout":"NONE"}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	got := w.worker()
	want := swf.ActivityTask{
		ActivityID: "a", StartedEventID: 6, WorkflowExecution: swf.Execution{WorkflowID: "w", RunID: r.info.ID},
		ActivityType: swf.Type{Name: "at", Version: "1"},
	}
	if got.activity != want || got.node.spec.Input.String() != `"in-a"` {
		t.Errorf("%+v with input %s", got.activity, got.node.spec.Input)
	}
	if fault := w.answer(got, grow.Cause{Kind: grow.Ended, Result: swf.Text(new("done"))}); fault != nil {
		t.Fatal(fault)
	}
	r.ends(6, "ActivityTaskStarted", "ActivityTaskCompleted", "DecisionTaskScheduled")
	expect(t, r.event("ActivityTaskStarted", 1), "identity", "worker-1", "scheduledEventId", 5)
	expect(t, r.event("ActivityTaskCompleted", 1), "result", "done", "scheduledEventId", 5, "startedEventId", 6)

	w.decide(activity("a")) // the id of a closed activity is free
	failed := swf.ActivityFailed(new("why"), new("det"))
	if fault := w.answer(w.worker(), grow.Cause{Kind: grow.Failed, Failure: failed}); fault != nil {
		t.Fatal(fault)
	}
	expect(t, r.event("ActivityTaskFailed", 1), "reason", "why", "details", "det", "scheduledEventId", 11, "startedEventId", 12)
	w.decide(activity("a"))
	_ = w.answer(w.worker(), grow.Cause{Kind: grow.Ended, Result: swf.Text(nil)})
	expect(t, r.event("ActivityTaskCompleted", 2), "result", nil)
}

// TestActivityCancel asks for the end of an activity: the worker that has it learns it by its heartbeat, and may report
// any end; one that no worker has taken ends after the batch.
func TestActivityCancel(t *testing.T) {
	t.Parallel()
	cancel := decide("RequestCancelActivityTask", "activityId", "a")
	for name, end := range map[string]grow.Cause{
		"ActivityTaskCanceled":  {Kind: grow.Failed, Failure: swf.ActivityCanceled(new("bye"))},
		"ActivityTaskCompleted": {Kind: grow.Ended, Result: atom.Null},
		"ActivityTaskFailed":    {Kind: grow.Failed, Failure: swf.ActivityFailed(nil, nil)},
	} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w")
		w.decide(activity("a"))
		got := w.worker()
		if w.heartbeat(got, "1") {
			t.Error("a cancel is requested before the decision")
		}
		w.signal(r, "x")
		w.decide(cancel, cancel)
		r.ends(11, "ActivityTaskCancelRequested", "ActivityTaskCancelRequested")
		if !w.heartbeat(got, "2") {
			t.Error("the worker is not told")
		}
		if fault := w.answer(got, end); fault != nil {
			t.Fatal(fault)
		}
		r.ends(13, name, "DecisionTaskScheduled")
		if name == "ActivityTaskCanceled" {
			expect(t, r.event(name, 1), "details", "bye", "latestCancelRequestedEventId", 12, "scheduledEventId", 5, "startedEventId", 6)
		}
	}
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(activity("a"))
	w.signal(r, "x")
	w.decide(cancel, activity("a"), marker("m")) // the id is free only after the batch
	r.ends(10, "ActivityTaskCancelRequested", "ScheduleActivityTaskFailed", "MarkerRecorded", "ActivityTaskCanceled", "DecisionTaskScheduled")
	expect(t, r.event("ActivityTaskCanceled", 1), "scheduledEventId", 5, "startedEventId", 0, "latestCancelRequestedEventId", 10)
	expect(t, r.event("ActivityTaskCancelRequested", 1), "activityId", "a", "decisionTaskCompletedEventId", 9)
	w.decide(cancel)
	r.ends(17, "RequestCancelActivityTaskFailed", "DecisionTaskScheduled")
	expect(t, r.event("RequestCancelActivityTaskFailed", 1), "cause", "ACTIVITY_ID_UNKNOWN", "activityId", "a")
	w.decide(activity("b"), decide("RequestCancelActivityTask", "activityId", "b")) // scheduled and canceled in one batch
	r.ends(21, "ActivityTaskScheduled", "ActivityTaskCancelRequested", "ActivityTaskCanceled", "DecisionTaskScheduled")
	w.decide(activity("c"))
	if fault := w.answer(w.worker(), grow.Cause{Kind: grow.Failed, Failure: swf.ActivityCanceled(nil)}); fault != nil {
		t.Fatal("a cancel without a request: ", fault)
	}
	expect(t, r.event("ActivityTaskCanceled", 3), "latestCancelRequestedEventId", nil, "details", nil)
}

// TestActivityTimeouts lets each timeout of an activity pass.
func TestActivityTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		timeout, member, value string
		started, beats         bool
		at                     int // seconds
	}{
		{"SCHEDULE_TO_START", "scheduleToStartTimeout", "1", false, false, 1},
		{"SCHEDULE_TO_START", "scheduleToStartTimeout", "0", false, false, 0},
		{"START_TO_CLOSE", "startToCloseTimeout", "1", true, false, 1},
		{"SCHEDULE_TO_CLOSE", "scheduleToCloseTimeout", "2", true, false, 2},
		{"SCHEDULE_TO_CLOSE", "scheduleToCloseTimeout", "2", false, false, 2},
		{"HEARTBEAT", "heartbeatTimeout", "1", true, false, 1},
		{"HEARTBEAT", "heartbeatTimeout", "2", true, true, 3},
	} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w")
		w.decide(activity("a", c.member, c.value))
		started := 0
		if c.started {
			got := w.worker()
			started = 6
			if c.beats {
				w.advance(second)
				w.heartbeat(got, "most")
			}
		}
		w.advance(30 * second)
		a := r.event("ActivityTaskTimedOut", 1)
		expect(t, a, "timeoutType", c.timeout, "scheduledEventId", 5, "startedEventId", started)
		if at := r.times[int(r.last("ActivityTaskTimedOut"))-1].Sub(epoch); at.Round(second) != second*time.Duration(c.at) {
			t.Errorf("%s after %v", c.timeout, at)
		}
		if c.beats {
			expect(t, a, "details", "most")
		} else {
			expect(t, a, "details", nil)
		}
		w.decide(complete)
	}
	// An activity without limits waits as long as the execution is open; a heartbeat limit does not run before the start.
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(activity("a", "scheduleToStartTimeout", "NONE", "startToCloseTimeout", "NONE", "scheduleToCloseTimeout", "NONE", "heartbeatTimeout", "1"))
	w.advance(299 * second)
	r.ends(5, "ActivityTaskScheduled")
	w.advance(second)
	r.ends(6, "WorkflowExecutionTimedOut")
}

// TestScheduleActivityFailures causes every failure of the decision.
func TestScheduleActivityFailures(t *testing.T) {
	t.Parallel()
	bare := func(missing string) string {
		given := map[string]any{
			"activityType": typed("at-bare"), "activityId": "a", "taskList": named("al"), "scheduleToCloseTimeout": "1",
			"scheduleToStartTimeout": "1", "startToCloseTimeout": "1", "heartbeatTimeout": "1",
		}
		var pairs []any
		for k, v := range given {
			if k != missing {
				pairs = append(pairs, k, v)
			}
		}
		return decide("ScheduleActivityTask", pairs...)
	}
	for cause, decisions := range map[string][]string{
		"ACTIVITY_TYPE_DOES_NOT_EXIST":                {activity("a", "activityType", typed("at-none"))},
		"ACTIVITY_TYPE_DEPRECATED":                    {activity("a", "activityType", typed("at-dep"))},
		"ACTIVITY_ID_ALREADY_IN_USE":                  {activity("b"), activity("b")},
		"OPEN_ACTIVITIES_LIMIT_EXCEEDED":              {activity("a"), activity("b"), activity("c")},
		"DEFAULT_TASK_LIST_UNDEFINED":                 {bare("taskList")},
		"DEFAULT_SCHEDULE_TO_CLOSE_TIMEOUT_UNDEFINED": {bare("scheduleToCloseTimeout")},
		"DEFAULT_SCHEDULE_TO_START_TIMEOUT_UNDEFINED": {bare("scheduleToStartTimeout")},
		"DEFAULT_START_TO_CLOSE_TIMEOUT_UNDEFINED":    {bare("startToCloseTimeout")},
		"DEFAULT_HEARTBEAT_TIMEOUT_UNDEFINED":         {bare("heartbeatTimeout")},
	} {
		w := newWorld(t, swf.Settings{OpenActivities: 2})
		r := w.start("w")
		w.decide(decisions...)
		if failed := r.event("ScheduleActivityTaskFailed", 1); failed["cause"] != cause || failed["decisionTaskCompletedEventId"] != 4.0 {
			t.Errorf("%v, want %s", failed, cause)
		}
		if r.events[len(r.events)-1].Type != "DecisionTaskScheduled" {
			t.Errorf("%s schedules no decision task", cause)
		}
	}
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(bare(""))
	expect(t, r.event("ActivityTaskScheduled", 1), "taskPriority", nil, "input", nil)
}

// TestRefusals makes each decision fail with each cause that the server, not the model, finds.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ decision, cause, failure string }{
		{activity("a"), "OPERATION_NOT_PERMITTED", "ScheduleActivityTaskFailed"},
		{activity("a"), "ACTIVITY_CREATION_RATE_EXCEEDED", "ScheduleActivityTaskFailed"},
		{decide("RequestCancelActivityTask", "activityId", "a"), "OPERATION_NOT_PERMITTED", "RequestCancelActivityTaskFailed"},
		{marker("m"), "OPERATION_NOT_PERMITTED", "RecordMarkerFailed"},
		{timer("t", "1"), "OPERATION_NOT_PERMITTED", "StartTimerFailed"},
		{timer("t", "1"), "TIMER_CREATION_RATE_EXCEEDED", "StartTimerFailed"},
		{decide("CancelTimer", "timerId", "t"), "OPERATION_NOT_PERMITTED", "CancelTimerFailed"},
		{decide("SignalExternalWorkflowExecution", "workflowId", "o", "signalName", "s"), "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED", "SignalExternalWorkflowExecutionFailed"},
		{decide("SignalExternalWorkflowExecution", "workflowId", "o", "signalName", "s"), "OPERATION_NOT_PERMITTED", "SignalExternalWorkflowExecutionFailed"},
		{decide("RequestCancelExternalWorkflowExecution", "workflowId", "o"), "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED", "RequestCancelExternalWorkflowExecutionFailed"},
		{decide("RequestCancelExternalWorkflowExecution", "workflowId", "o"), "OPERATION_NOT_PERMITTED", "RequestCancelExternalWorkflowExecutionFailed"},
		{startChild("c"), "OPEN_WORKFLOWS_LIMIT_EXCEEDED", "StartChildWorkflowExecutionFailed"},
		{startChild("c"), "CHILD_CREATION_RATE_EXCEEDED", "StartChildWorkflowExecutionFailed"},
		{startChild("c"), "OPERATION_NOT_PERMITTED", "StartChildWorkflowExecutionFailed"},
		{complete, "OPERATION_NOT_PERMITTED", "CompleteWorkflowExecutionFailed"},
		{decide("FailWorkflowExecution"), "OPERATION_NOT_PERMITTED", "FailWorkflowExecutionFailed"},
		{decide("CancelWorkflowExecution"), "OPERATION_NOT_PERMITTED", "CancelWorkflowExecutionFailed"},
		{decide("ContinueAsNewWorkflowExecution"), "OPERATION_NOT_PERMITTED", "ContinueAsNewWorkflowExecutionFailed"},
		{decide("ContinueAsNewWorkflowExecution"), "CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED", "ContinueAsNewWorkflowExecutionFailed"},
		{decide("ScheduleLambdaFunction", "id", "l", "name", "f"), "OPERATION_NOT_PERMITTED", "ScheduleLambdaFunctionFailed"},
		{decide("ScheduleLambdaFunction", "id", "l", "name", "f"), "LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED", "ScheduleLambdaFunctionFailed"},
		{decide("ScheduleLambdaFunction", "id", "l", "name", "f"), "LAMBDA_SERVICE_NOT_AVAILABLE_IN_REGION", "ScheduleLambdaFunctionFailed"},
	} {
		w := newWorld(t, swf.Settings{})
		w.start("o", func(s *swf.Start) { s.TaskList.Name = "other" })
		r := w.start("w")
		got := w.decider()
		if fault := w.complete(got, swf.Completion{Refusals: map[int]string{1: c.cause}}, marker("first"), c.decision); fault != nil {
			t.Fatalf("%s: %v", c.cause, fault)
		}
		expect(t, r.event(c.failure, 1), "cause", c.cause, "decisionTaskCompletedEventId", 4)
		if r.events[len(r.events)-1].Type != "DecisionTaskScheduled" {
			t.Errorf("%s of %s schedules no decision task\n%s", c.cause, c.failure, r.story())
		}
	}
}
