package swf_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// TestCloses closes an execution by each of the decisions, and compares what its run ends with.
func TestCloses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		decision, event, status, code string
		want                          []any
	}{
		{complete, "WorkflowExecutionCompleted", "COMPLETED", "", []any{"result", "res"}},
		{decide("CompleteWorkflowExecution"), "WorkflowExecutionCompleted", "COMPLETED", "", []any{"result", nil}},
		{decide("FailWorkflowExecution", "reason", "r", "details", "d"), "WorkflowExecutionFailed", "FAILED", swf.CodeFailed, []any{"reason", "r", "details", "d"}},
		{decide("CancelWorkflowExecution", "details", "d"), "WorkflowExecutionCanceled", "CANCELED", swf.CodeCanceled, []any{"details", "d"}},
	} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w")
		w.decide(timer("t", "5"), activity("a"))
		w.advance(5 * second)
		w.decide(c.decision)
		expect(t, r.event(c.event, 1), append(c.want, "decisionTaskCompletedEventId", 10)...)
		if got := r.labels[swf.LabelCloseStatus]; got != "d/"+c.status || w.keys[r.info.Key] != nil {
			t.Errorf("closed as %q", got)
		}
		if f := r.end.Failure; (f == nil) != (c.code == "") || f != nil && f.Code != c.code || r.end.Cancelled != (c.status == "CANCELED") {
			t.Errorf("%s ends with %+v", c.status, r.end)
		}
		w.advance(time.Hour) // the activity is dropped without an event
		r.ends(11, c.event)
		if d, _ := swf.Describe(r.memory); d.OpenCounts != (swf.OpenCounts{OpenActivityTasks: 1}) || d.LatestActivityTaskTimestamp != epoch {
			t.Errorf("%+v", d)
		}
		w.start("w") // the workflowId is free again
	}
}

// TestContinueAsNew takes defaults from the type, not from the old run, and starts the next run with the same
// workflowId.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w", func(s *swf.Start) { s.TagList = []string{"old"}; s.LambdaRole = "arn:role" })
	w.decide(decide("ContinueAsNewWorkflowExecution", "input", "next", "tagList", []string{"new"}, "executionStartToCloseTimeout", "77",
		"taskList", named("dl"), "workflowTypeVersion", "2"))
	next := w.order[1]
	a := r.event("WorkflowExecutionContinuedAsNew", 1)
	expect(t, a, "input", "next", "newExecutionRunId", next.info.ID, "executionStartToCloseTimeout", "77", "taskPriority", "3",
		"taskStartToCloseTimeout", "60", "childPolicy", "TERMINATE", "decisionTaskCompletedEventId", 4, "lambdaRole", nil)
	if typ, _ := a["workflowType"].(map[string]any); typ["name"] != "wt" || typ["version"] != "2" {
		t.Errorf("the type is %v", typ)
	}
	next.ends(1, "WorkflowExecutionStarted", "DecisionTaskScheduled")
	started := next.event("WorkflowExecutionStarted", 1)
	expect(t, started, "continuedExecutionRunId", r.info.ID, "input", "next", "executionStartToCloseTimeout", "77", "parentInitiatedEventId", 0)
	if tags, _ := started["tagList"].([]any); len(tags) != 1 || tags[0] != "new" {
		t.Errorf("tags %v", tags)
	}
	if next.info.Key != r.info.Key || next.info.ID == r.info.ID {
		t.Errorf("%+v", next.info)
	}
	for cause, d := range map[string]string{
		"WORKFLOW_TYPE_DOES_NOT_EXIST": decide("ContinueAsNewWorkflowExecution", "workflowTypeVersion", "99"),
		"WORKFLOW_TYPE_DEPRECATED":     "wt-dep",
		"DEFAULT_TASK_LIST_UNDEFINED": decide("ContinueAsNewWorkflowExecution", "executionStartToCloseTimeout", "60",
			"taskStartToCloseTimeout", "60", "childPolicy", "ABANDON"),
		"DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED": decide("ContinueAsNewWorkflowExecution"),
		"DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED": decide("ContinueAsNewWorkflowExecution", "executionStartToCloseTimeout", "60",
			"taskList", named("x")),
		"DEFAULT_CHILD_POLICY_UNDEFINED": decide("ContinueAsNewWorkflowExecution", "executionStartToCloseTimeout", "60",
			"taskList", named("x"), "taskStartToCloseTimeout", "60"),
	} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w", func(s *swf.Start) {
			if s.Type.Name = "wt-bare"; d == "wt-dep" {
				s.Type.Name = d
			}
		})
		if d == "wt-dep" {
			d = decide("ContinueAsNewWorkflowExecution")
		}
		w.decide(d)
		r.ends(5, "ContinueAsNewWorkflowExecutionFailed", "DecisionTaskScheduled")
		expect(t, r.event("ContinueAsNewWorkflowExecutionFailed", 1), "cause", cause)
	}
}

// TestExecutionTimeout times an execution out. Of timeouts at the same moment its own comes first, earlier ones
// before it.
func TestExecutionTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w", func(s *swf.Start) { s.ExecutionStartToCloseTimeout = "10" })
	w.decide(timer("same", "10"), timer("earlier", "9"), activity("a", "startToCloseTimeout", "10", "scheduleToStartTimeout", "10"), activity("b", "heartbeatTimeout", "10"))
	w.worker()
	w.worker()
	w.advance(20 * second)
	r.ends(11, "TimerFired", "DecisionTaskScheduled", "WorkflowExecutionTimedOut")
	expect(t, r.event("WorkflowExecutionTimedOut", 1), "timeoutType", "START_TO_CLOSE", "childPolicy", "TERMINATE")
	if r.labels[swf.LabelCloseStatus] != "d/TIMED_OUT" || !r.end.TimedOut || r.end.Failure.Code != swf.CodeTimedOut {
		t.Errorf("%+v", r.end)
	}
	if at := r.times[12].Sub(epoch); at != 10*second {
		t.Errorf("after %v", at)
	}
	// The engine asks about what is due in any order: after a long pause, the order is that of the due times.
	for due, want := range map[string]string{"9": "TimerFired", "10": "WorkflowExecutionTimedOut", "11": "WorkflowExecutionTimedOut"} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w", func(s *swf.Start) { s.ExecutionStartToCloseTimeout = "10" })
		w.decide(timer("t", due))
		w.now = w.now.Add(time.Hour)
		r.find("t#5").endWith(grow.Cause{Kind: grow.Ended})
		if r.events[5].Type != want {
			t.Errorf("a timer of %s s: %s", due, r.events[5].Type)
		}
	}
	w = newWorld(t, swf.Settings{})
	r = w.start("w", func(s *swf.Start) { s.ExecutionStartToCloseTimeout = "0" })
	w.advance(0)
	r.ends(3, "WorkflowExecutionTimedOut")
}

// TestEventLimit ends an execution with the event that would be one too many.
func TestEventLimit(t *testing.T) {
	t.Parallel()
	const limit = 12
	limited := func() (*world, *simRun) {
		w := newWorld(t, swf.Settings{Events: limit})
		return w, w.start("w", func(s *swf.Start) { s.ChildPolicy = swf.PolicyRequestCancel })
	}
	ended := func(r *simRun, what string) {
		t.Helper()
		if len(r.events) != limit+1 || r.events[limit].Type != "WorkflowExecutionTerminated" {
			t.Errorf("%s: %d events\n%s", what, len(r.events), r.story())
			return
		}
		expect(t, r.event("WorkflowExecutionTerminated", 1), "cause", "EVENT_LIMIT_EXCEEDED", "childPolicy", "REQUEST_CANCEL")
	}
	w, r := limited()
	for range limit - 2 {
		w.signal(r, "s")
	}
	w.signal(r, "one too many")
	ended(r, "signals")

	w, r = limited()
	w.decide(startChild("c"), marker("1"), marker("2"), marker("3"), marker("4")) // 9 events, then Started and Scheduled
	w.decide(marker("5"), startChild("c2"), activity("a"), timer("t", "1"))
	ended(r, "a batch")
	if c := w.order[1]; c.last("WorkflowExecutionCancelRequested") == 0 {
		t.Errorf("the policy is not applied\n%s", c.story())
	}

	w, r = limited()
	for range limit - 2 {
		w.signal(r, "s")
	}
	if got := w.poll(swf.DecisionQueue(domain, "dl"), "d"); got != nil {
		t.Error("a task of a terminated execution is handed out")
	}
	ended(r, "a poll")

	w, r = limited()
	for range limit - 4 {
		w.signal(r, "s")
	}
	w.decide(complete) // a closing event takes the place of the termination
	if len(r.events) != limit+1 || r.events[limit].Type != "WorkflowExecutionCompleted" {
		t.Errorf("a close at the limit\n%s", r.story())
	}

	w, r = limited()
	w.decide(marker("1"), marker("2"), marker("3"), marker("4"), timer("t", "1")) // 9 events
	w.advance(second)                                                             // 10, 11
	w.decider()                                                                   // 12
	if r.end != nil {
		t.Errorf("ended within the limit\n%s", r.story())
	}
	w, r = limited()
	w.decide(marker("1"), marker("2"), marker("3"), marker("4"), marker("5"), marker("6"), marker("7"), complete)
	if len(r.events) != limit || r.labels[swf.LabelCloseStatus] != "d/COMPLETED" {
		t.Errorf("a close that fits\n%s", r.story())
	}
}

// TestTimers starts, fires and cancels timers, and causes every failure.
func TestTimers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{OpenTimers: 2})
	r := w.start("w")
	w.decide(timer("a", "1"), timer("b", "300"), timer("a", "1"), timer("c", "1"))
	r.ends(5, "TimerStarted", "TimerStarted", "StartTimerFailed", "StartTimerFailed", "DecisionTaskScheduled")
	expect(t, r.event("TimerStarted", 1), "timerId", "a", "startToFireTimeout", "1", "control", "ctl-a", "decisionTaskCompletedEventId", 4)
	expect(t, r.event("StartTimerFailed", 1), "cause", "TIMER_ID_ALREADY_IN_USE", "timerId", "a")
	expect(t, r.event("StartTimerFailed", 2), "cause", "OPEN_TIMERS_LIMIT_EXCEEDED", "timerId", "c")
	w.advance(second)
	w.decide(timer("a", "5"))
	expect(t, r.event("TimerFired", 1), "timerId", "a", "startedEventId", 5)
	w.signal(r, "x")
	w.decide(decide("CancelTimer", "timerId", "b"), timer("b", "7"), decide("CancelTimer", "timerId", "none"))
	expect(t, r.event("TimerCanceled", 1), "timerId", "b", "startedEventId", 6, "decisionTaskCompletedEventId", 17)
	expect(t, r.event("CancelTimerFailed", 1), "cause", "TIMER_ID_UNKNOWN", "timerId", "none")
	r.ends(18, "TimerCanceled", "TimerStarted", "CancelTimerFailed", "DecisionTaskScheduled")
	w.decide(decide("CancelTimer", "timerId", "a"), timer("n", "0"), decide("CancelTimer", "timerId", "n"))
	w.advance(3 * second)
	w.idle() // the cancel of a timer schedules nothing
	w.decideAfter(t, "TimerFired", 10*second)
}

// decideAfter waits for an event and completes the decision task that it schedules.
func (w *world) decideAfter(t *testing.T, event string, d time.Duration) {
	t.Helper()
	w.advance(d)
	r := w.order[0]
	if got := r.types(len(r.events) - 1); got[0] != event || got[1] != "DecisionTaskScheduled" {
		t.Errorf("%v", got)
	}
	w.decide()
}

// TestMarkers records markers, which schedule nothing and may have one name.
func TestMarkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(marker("m"), marker("m"))
	r.ends(5, "MarkerRecorded", "MarkerRecorded")
	expect(t, r.event("MarkerRecorded", 1), "markerName", "m", "details", "d", "decisionTaskCompletedEventId", 4)
	w.idle()
}

// TestLambda calls functions: results, errors, timeouts and every failure of the decision.
func TestLambda(t *testing.T) {
	t.Parallel()
	lambda := func(id string, more ...any) string {
		return decide("ScheduleLambdaFunction", append([]any{"id", id, "name", "f", "input", `{"a":1}`, "control", "c"}, more...)...)
	}
	w := newWorld(t, swf.Settings{OpenLambdas: 2})
	w.function = func(name string, payload json.RawMessage) (string, *atom.Failure, time.Duration) {
		switch name {
		case "slow":
			return "", nil, 6 * second
		case "none":
			return "", &atom.Failure{Code: "Lambda.ResourceNotFoundException", Message: "Function not found: none"}, 0
		case "own":
			return "", &atom.Failure{Code: "Boom", Message: `{"errorType":"Boom","errorMessage":"x"}`}, 0
		case "fails":
			return "", &atom.Failure{Code: "Boom", Message: "bang"}, 0
		case "long":
			return `"` + strings.Repeat("x", 32768) + `"`, nil, 0
		}
		return string(payload), nil, second
	}
	r := w.start("w", func(s *swf.Start) { s.LambdaRole = "arn:aws:iam::1:role/r"; s.ExecutionStartToCloseTimeout = "1000" })
	w.decide(lambda("l"), lambda("l"), lambda("2", "startToCloseTimeout", "5", "name", "slow"), lambda("3"), marker("m"))
	r.ends(5, "LambdaFunctionScheduled", "ScheduleLambdaFunctionFailed", "LambdaFunctionScheduled", "ScheduleLambdaFunctionFailed",
		"MarkerRecorded", "LambdaFunctionStarted", "LambdaFunctionStarted", "DecisionTaskScheduled")
	expect(t, r.event("LambdaFunctionScheduled", 1), "id", "l", "name", "f", "input", `{"a":1}`, "control", "c", "startToCloseTimeout", "900", "decisionTaskCompletedEventId", 4)
	expect(t, r.event("ScheduleLambdaFunctionFailed", 1), "cause", "ID_ALREADY_IN_USE", "id", "l", "name", "f")
	expect(t, r.event("ScheduleLambdaFunctionFailed", 2), "cause", "OPEN_LAMBDA_FUNCTIONS_LIMIT_EXCEEDED")
	w.advance(9 * second)
	expect(t, r.event("LambdaFunctionCompleted", 1), "result", `{"a":1}`, "scheduledEventId", 5, "startedEventId", 10)
	expect(t, r.event("LambdaFunctionTimedOut", 1), "timeoutType", "START_TO_CLOSE", "scheduledEventId", 7, "startedEventId", 11)
	if at := r.times[int(r.last("LambdaFunctionTimedOut"))-1].Sub(epoch); at != 5*second {
		t.Errorf("timed out after %v", at)
	}
	for name, want := range map[string][]any{
		"none":  {"reason", "ResourceNotFoundException"},
		"own":   {"reason", "UnhandledError", "details", `{"errorType":"Boom","errorMessage":"x"}`},
		"fails": {"reason", "UnhandledError", "details", `{"errorMessage":"bang","errorType":"Boom"}`},
		"long":  {"reason", "ResultTooLarge"},
	} {
		got := w.decider()
		w.respond(got, lambda("l", "name", name, "input", "not JSON"))
		w.advance(0)
		a := map[string]any{}
		_ = r.events[int(r.last("LambdaFunctionFailed"))-1].Details.Decode(&a)
		expect(t, a, want...)
	}
	without := w.start("without", func(s *swf.Start) { s.TaskList.Name = "wl" })
	w.respond(w.decider("wl"), lambda("l"))
	without.ends(5, "LambdaFunctionScheduled", "StartLambdaFunctionFailed", "DecisionTaskScheduled")
	expect(t, without.event("StartLambdaFunctionFailed", 1), "cause", "ASSUME_ROLE_FAILED", "scheduledEventId", 5,
		"message", "No IAM role is attached to the current workflow execution.")
}

// TestDefaults completes configurations in the order of the service.
func TestDefaults(t *testing.T) {
	t.Parallel()
	var c swf.Configuration
	for _, step := range []struct {
		missing string
		give    func()
	}{
		{"executionStartToCloseTimeout", func() { c.ExecutionStartToCloseTimeout = "1" }},
		{"taskList", func() { c.TaskList = &swf.TaskList{Name: "l"} }},
		{"taskStartToCloseTimeout", func() { c.TaskStartToCloseTimeout = "1" }},
		{"childPolicy", func() { c.ChildPolicy = "ABANDON" }},
		{"", func() {}},
	} {
		if got := c.Complete(&swf.WorkflowDefaults{}); got != step.missing {
			t.Errorf("%q is missing, want %q", got, step.missing)
		}
		step.give()
	}
	if c.TaskPriority != "" || c.LambdaRole != "" {
		t.Errorf("%+v", c)
	}
	c = swf.Configuration{ChildPolicy: "ABANDON"}
	if got := c.Complete(&full); got != "" || c.ChildPolicy != "ABANDON" || c.TaskPriority != "3" || c.TaskList.Name != "wt-default" {
		t.Errorf("%q: %+v", got, c)
	}
}

// TestLargeDetails keeps details of the largest size in a failure, except those that only control characters make too large.
func TestLargeDetails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		character string
		whole     bool
	}{{"x", true}, {"\"", true}, {"\U0001F600", true}, {"\x01", false}} {
		details := strings.Repeat(c.character, 32768)
		f := swf.ActivityFailed(new("why"), &details).Bounded()
		var got struct{ Reason, Details string }
		if err := f.Details.Decode(&got); err != nil || got.Reason != "why" || (got.Details == details) != c.whole ||
			!strings.HasPrefix(details, got.Details) || len(got.Details) < 8192 {
			t.Errorf("%q: %d bytes of details, %v", c.character, len(got.Details), err)
		}
	}
}

// TestNames compares keys and labels of long and strange names: they fit, and differ.
func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 256)
	seen := map[string]string{}
	for _, name := range []string{"a", long, long[:510], "sha256:x", "\x00", "\x01", "", strings.Repeat("x", 120), strings.Repeat("x", 121)} {
		for kind, key := range map[string]string{
			"key": swf.Key(long, name), "queue": swf.DecisionQueue(long, name), "activities": swf.ActivityQueue(long, name),
			"label": swf.LabelValue("d", name), "tag": swf.LabelTag(name),
		} {
			if len(key) > 256 || strings.ContainsAny(key, "\x00\x01") {
				t.Errorf("%s of %q is %q", kind, name, key)
			}
			if other, is := seen[key]; is {
				t.Errorf("%q and %q have the key %q", name, other, key)
			}
			seen[key] = name
		}
	}
	s := swf.Start{Domain: "d", WorkflowID: long, Type: swf.Type{Name: long, Version: "v"}, TagList: []string{"", long, "\x00"}}
	for key, value := range s.Labels() {
		if len(key) > 256 || len(value) > 256 || strings.Contains(key+value, "\x00") {
			t.Errorf("label %q = %q", key, value)
		}
	}
}

// TestNoExecution asks about a run that is none.
func TestNoExecution(t *testing.T) {
	t.Parallel()
	l := swf.New(swf.Settings{})
	for _, attributes := range []string{"null", "{}", "7"} {
		g := l.Grow(&grow.Ask{Run: &grow.RunInfo{Attributes: atom.FromJSON([]byte(attributes))}})
		if g.End == nil || g.End.Failure == nil || len(g.Events) > 0 {
			t.Errorf("%s: %+v", attributes, g)
		}
	}
	if l.Reopens(nil) == nil {
		t.Error("a closed execution reopens")
	}
}
