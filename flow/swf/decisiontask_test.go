package swf_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// TestFirstEvents starts an execution, and compares its first events member by member.
func TestFirstEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w", func(s *swf.Start) { s.TagList = []string{"x"}; s.LambdaRole = "arn:r" })
	r.ends(1, "WorkflowExecutionStarted", "DecisionTaskScheduled")
	if got, want := r.events[0].Details.String(), `{"input":"in","executionStartToCloseTimeout":"300","taskStartToCloseTimeout":"60",`+
		`"childPolicy":"TERMINATE","taskList":{"name":"dl"},"workflowType":{"name":"wt","version":"1"},`+
		`"tagList":["x"],"parentInitiatedEventId":0,"lambdaRole":"arn:r"}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got, want := r.events[1].Details.String(), `{"taskList":{"name":"dl"},"startToCloseTimeout":"60","scheduleToStartTimeout":"NONE"}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	got := w.decider()
	if want := (swf.DecisionTask{StartedEventID: 3}); got.decision != want {
		t.Errorf("the task is %+v, want %+v", got.decision, want)
	}
	expect(t, r.event("DecisionTaskStarted", 1), "identity", "decider-1", "scheduledEventId", 2)
}

// TestEventsWhereTheyHappen is the first trap: what happens while a decision task is started is recorded at once,
// between DecisionTaskStarted and DecisionTaskCompleted, and the second: it schedules one task, which is handed out
// afterwards.
func TestEventsWhereTheyHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	got := w.decider()
	w.signal(r, "a")
	w.signal(r, "b")
	w.idle()
	if d, _ := swf.Describe(r.memory); d.OpenCounts.OpenDecisionTasks != 1 {
		t.Errorf("open decision tasks: %+v", d.OpenCounts)
	}
	w.respond(got)
	r.ends(3, "DecisionTaskStarted", "WorkflowExecutionSignaled", "DecisionTaskScheduled", "WorkflowExecutionSignaled", "DecisionTaskCompleted")
	next := w.decider()
	if next.decision.StartedEventID != 8 || next.decision.PreviousStartedEventID != 3 {
		t.Errorf("%+v", next.decision)
	}
	w.respond(next, complete)
	r.ends(9, "DecisionTaskCompleted", "WorkflowExecutionCompleted")
}

// TestCoalescingWhileScheduled has the order of the recorded example: 7 scheduled, 8 signaled, 9 started.
func TestCoalescingWhileScheduled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide()
	w.signal(r, "a")
	w.signal(r, "b")
	w.signal(r, "c")
	w.decider()
	r.ends(5, "WorkflowExecutionSignaled", "DecisionTaskScheduled", "WorkflowExecutionSignaled", "WorkflowExecutionSignaled", "DecisionTaskStarted")
	expect(t, r.event("DecisionTaskStarted", 2), "scheduledEventId", 6)
}

// TestUnhandledDecision is the third trap: the close fails as an event, the other decisions stand, the scheduled task
// follows.
func TestUnhandledDecision(t *testing.T) {
	t.Parallel()
	for typ, failure := range map[string]string{
		"CompleteWorkflowExecution": "CompleteWorkflowExecutionFailed", "FailWorkflowExecution": "FailWorkflowExecutionFailed",
		"CancelWorkflowExecution": "CancelWorkflowExecutionFailed", "ContinueAsNewWorkflowExecution": "ContinueAsNewWorkflowExecutionFailed",
	} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w")
		got := w.decider()
		w.signal(r, "late")
		w.respond(got, marker("m"), decide(typ))
		r.ends(4, "WorkflowExecutionSignaled", "DecisionTaskScheduled", "DecisionTaskCompleted", "MarkerRecorded", failure)
		expect(t, r.event(failure, 1), "cause", "UNHANDLED_DECISION", "decisionTaskCompletedEventId", 6)
		w.decide(complete)
		if r.labels[swf.LabelCloseStatus] != "d/COMPLETED" {
			t.Errorf("closed as %q", r.labels[swf.LabelCloseStatus])
		}
	}
}

// TestNotBlocking shows events after the start of the task that do not block a close: a started activity, a marker, a
// timer, and failures of decisions in the same batch.
func TestNotBlocking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide(activity("a"))
	w.signal(r, "x")
	got := w.decider()
	w.worker()
	w.respond(got, marker("m"), timer("t", "5"), decide("CancelTimer", "timerId", "none"), complete)
	r.ends(9, "ActivityTaskStarted", "DecisionTaskCompleted", "MarkerRecorded", "TimerStarted", "CancelTimerFailed", "WorkflowExecutionCompleted")
}

// TestEffectsAfterTheBatch: the execution closes although its decisions start a child, signal another execution and
// cancel an activity. The child starts and the signal arrives nevertheless.
func TestEffectsAfterTheBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	other := w.start("other")
	r := w.start("w", func(s *swf.Start) { s.TaskList.Name, s.LambdaRole = "l2", "r" })
	w.function = func(string, json.RawMessage) (string, *atom.Failure, time.Duration) {
		t.Error("a function is called")
		return "", nil, 0
	}
	w.respond(w.decider("l2"), activity("a"))
	w.signal(r, "x")
	w.respond(w.decider("l2"),
		decide("SignalExternalWorkflowExecution", "workflowId", "other", "signalName", "s"), startChild("c"),
		decide("RequestCancelActivityTask", "activityId", "a"), timer("t", "0"), decide("ScheduleLambdaFunction", "id", "l", "name", "f"), complete)
	r.ends(9, "DecisionTaskCompleted", "SignalExternalWorkflowExecutionInitiated", "StartChildWorkflowExecutionInitiated",
		"ActivityTaskCancelRequested", "TimerStarted", "LambdaFunctionScheduled", "WorkflowExecutionCompleted")
	expect(t, other.event("WorkflowExecutionSignaled", 1), "signalName", "s", "externalInitiatedEventId", 10)
	child := w.order[2]
	if child.end != nil || child.parent != nil {
		t.Error("the child is not open, or its parent waits for it")
	}
	expect(t, child.event("WorkflowExecutionStarted", 1), "parentInitiatedEventId", 11, "input", "child-in")
	w.advance(10 * second)
	if len(r.events) != 15 {
		t.Errorf("events after the close\n%s", r.story())
	}
}

// TestDecisionTaskStartToClose times a started task out: the token dies, none of its decisions count, and the next task
// follows at once, unless one is scheduled. There is no limit of attempts.
func TestDecisionTaskStartToClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w", func(s *swf.Start) { s.TaskStartToCloseTimeout = "2" })
	late := w.decider()
	w.advance(2 * second)
	r.ends(4, "DecisionTaskTimedOut", "DecisionTaskScheduled")
	expect(t, r.event("DecisionTaskTimedOut", 1), "timeoutType", "START_TO_CLOSE", "scheduledEventId", 2, "startedEventId", 3)
	if w.complete(late, swf.Completion{}, complete) == nil {
		t.Error("a late answer is accepted")
	}
	second1 := w.decider()
	if second1.decision.PreviousStartedEventID != 0 {
		t.Errorf("a task that timed out counts as previous: %+v", second1.decision)
	}
	w.signal(r, "x")
	w.advance(2 * second)
	r.ends(6, "DecisionTaskStarted", "WorkflowExecutionSignaled", "DecisionTaskScheduled", "DecisionTaskTimedOut")
	w.decide(complete)
	r.ends(10, "DecisionTaskStarted", "DecisionTaskCompleted", "WorkflowExecutionCompleted")

	none := w.start("none", func(s *swf.Start) { s.TaskStartToCloseTimeout = "NONE" })
	got := w.decider()
	w.advance(299 * second)
	w.respond(got, complete)
	expect(t, none.event("DecisionTaskScheduled", 1), "startToCloseTimeout", "NONE")
}

// TestTaskListOverride sets another task list for good.
func TestTaskListOverride(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	got := w.decider()
	w.signal(r, "queued before") // this task keeps its list
	if fault := w.complete(got, swf.Completion{TaskList: &swf.TaskList{Name: "o"}, ExecutionContext: new("ctx")}); fault != nil {
		t.Fatal(fault)
	}
	expect(t, r.event("DecisionTaskCompleted", 1), "executionContext", "ctx", "scheduledEventId", 2, "startedEventId", 3)
	if l, _ := r.event("DecisionTaskCompleted", 1)["taskList"].(map[string]any); l["name"] != "o" {
		t.Errorf("the override is %v", l)
	}
	w.decide()
	w.signal(r, "x")
	if l, _ := r.event("DecisionTaskScheduled", 3)["taskList"].(map[string]any); l["name"] != "o" {
		t.Errorf("the list is %v", l)
	}
	expect(t, r.event("DecisionTaskScheduled", 3), "scheduleToStartTimeout", "NONE")
	w.advance(60 * second)
	w.respond(w.decider("o"))
	w.signal(r, "y")
	w.respond(w.decider("o"), complete)
	d, _ := swf.Describe(r.memory)
	if d.LatestContextEvent != 6 {
		t.Errorf("the latest context is in event %d", d.LatestContextEvent)
	}
}

// TestTemporaryOverride sets another task list until a task on it is not started, or not completed, in time.
func TestTemporaryOverride(t *testing.T) {
	t.Parallel()
	override := swf.Completion{TaskList: &swf.TaskList{Name: "o"}, TaskListScheduleToStartTimeout: "1"}
	for _, started := range []bool{false, true} {
		w := newWorld(t, swf.Settings{})
		r := w.start("w", func(s *swf.Start) { s.TaskStartToCloseTimeout = "3" })
		if fault := w.complete(w.decider(), override); fault != nil {
			t.Fatal(fault)
		}
		expect(t, r.event("DecisionTaskCompleted", 1), "taskListScheduleToStartTimeout", "1")
		w.signal(r, "x")
		expect(t, r.event("DecisionTaskScheduled", 2), "scheduleToStartTimeout", "1")
		if started {
			w.decider("o")
		}
		w.advance(4 * second)
		timedOut := r.event("DecisionTaskTimedOut", 1)
		if started {
			expect(t, timedOut, "timeoutType", "START_TO_CLOSE", "scheduledEventId", 6, "startedEventId", 7)
		} else {
			expect(t, timedOut, "timeoutType", "SCHEDULE_TO_START", "scheduledEventId", 6, "startedEventId", 0)
		}
		expect(t, r.event("DecisionTaskScheduled", 3), "scheduleToStartTimeout", "NONE")
		w.decide(complete)
	}
	// A list that a decider polls in time stays.
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	_ = w.complete(w.decider(), override)
	for range 3 {
		w.signal(r, "x")
		w.advance(second / 2)
		w.respond(w.decider("o"))
		w.advance(5 * second)
	}
	if n := r.last("DecisionTaskTimedOut"); n != 0 {
		t.Errorf("event %v\n%s", n, r.story())
	}
}

// TestQueuedOverrideWaits gives a queued task on a temporary list its whole timeout once it can be handed out.
func TestQueuedOverrideWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	_ = w.complete(w.decider(), swf.Completion{TaskList: &swf.TaskList{Name: "o"}, TaskListScheduleToStartTimeout: "2"})
	w.signal(r, "x")
	got := w.decider("o")
	w.signal(r, "y")
	w.advance(30 * second)
	w.respond(got)
	w.advance(second)
	w.respond(w.decider("o"), complete)
}

// TestInvalidCompletion refuses a batch as a whole: nothing takes effect and the task stays open.
func TestInvalidCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	got := w.decider()
	for _, c := range []struct {
		completion swf.Completion
		decisions  []string
		want       string
	}{
		{swf.Completion{}, []string{marker("m"), `{"decisionType":"StartTimer"}`}, swf.FaultValidation},
		{swf.Completion{}, []string{`{"decisionType":"NoSuch"}`}, swf.FaultValidation},
		{swf.Completion{}, []string{complete, marker("m")}, swf.FaultValidation},
		{swf.Completion{}, []string{complete, complete}, swf.FaultValidation},
		{swf.Completion{}, []string{`7`}, swf.FaultSerialization},
		{swf.Completion{TaskList: &swf.TaskList{Name: "a:b"}}, nil, swf.FaultValidation},
		{swf.Completion{TaskListScheduleToStartTimeout: "soon"}, nil, swf.FaultValidation},
		{swf.Completion{Refusals: map[int]string{0: "TIMER_ID_UNKNOWN"}}, []string{marker("m")}, swf.FaultValidation},
		{swf.Completion{Refusals: map[int]string{1: "OPERATION_NOT_PERMITTED"}}, []string{marker("m")}, swf.FaultValidation},
	} {
		if fault := w.complete(got, c.completion, c.decisions...); fault == nil || fault.Type != c.want {
			t.Errorf("%v: %+v, want %s", c.decisions, fault, c.want)
		}
	}
	r.ends(3, "DecisionTaskStarted")
	if fault := w.answer(got, grow.Cause{Kind: grow.Failed, Failure: &atom.Failure{Code: "x"}}); fault == nil {
		t.Error("a decision task can fail")
	}
	w.respond(got, complete)
	if fault := w.complete(got, swf.Completion{}); fault == nil || fault.Type != swf.FaultUnknownResource {
		t.Errorf("after the close: %v", fault)
	}
}

// TestUntrustedEnd ends the tokens of tasks that no worker has taken, or with results that are none: the history
// stays one that the service could have written.
func TestUntrustedEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	n := r.find("decision#2")
	for _, call := range []bool{true, false} {
		g := r.ask(grow.Cause{Kind: grow.Ended, Call: call, Result: atom.MustEncode(7)}, n)
		if (g.Refuse != nil) != call {
			t.Errorf("call %t: %+v", call, g)
		}
	}
	r.ends(3, "DecisionTaskTimedOut", "DecisionTaskScheduled")
	w.decide(activity("a"), activity("b"))
	w.settle()
	for _, name := range []string{"a", "b"} {
		node := r.open[len(r.open)-1]
		for _, o := range r.open {
			if o.spec.Input.String() == `"in-`+name+`"` {
				node = o
			}
		}
		if name == "a" {
			node.endWith(grow.Cause{Kind: grow.Ended, Result: atom.MustEncode(map[string]int{"n": 1})})
		} else {
			node.endWith(grow.Cause{Kind: grow.Failed, Call: true, Failure: &atom.Failure{Code: "Card", Message: "declined"}})
		}
	}
	expect(t, r.event("ActivityTaskCompleted", 1), "result", `{"n":1}`)
	expect(t, r.event("ActivityTaskFailed", 1), "reason", "Card", "details", "declined")
}

// TestRepeatedTaking hands a task out again, as after a lost worker: there is no second event.
func TestRepeatedTaking(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	first := w.poll(swf.DecisionQueue(domain, "dl"), swf.NoIdentity)
	expect(t, r.event("DecisionTaskStarted", 1), "identity", nil)
	first.node.taken = first.node.taken.Add(-1)
	g := r.ask(grow.Cause{Kind: grow.Taken, Call: true, Result: atom.MustEncode("another")}, first.node)
	var again swf.DecisionTask
	if err := g.Reply.Decode(&again); err != nil || again != first.decision || len(g.Events) > 0 {
		t.Errorf("%+v, %v, %v", again, g.Events, err)
	}
	w.respond(first, complete)
}

// TestPriority hands out decision tasks and activities by priority, and those of equal priority in order.
func TestPriority(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	for id, priority := range map[string]string{"low": "-1", "high": "10"} {
		w.start(id, func(s *swf.Start) { s.TaskPriority = priority })
	}
	w.start("mid")
	for _, want := range []string{"high", "mid"} {
		got := w.decider()
		if key := got.node.run.info.Key; key != swf.Key(domain, want) {
			t.Errorf("%s, want %s", key, want)
		}
		expect(t, got.node.run.event("DecisionTaskScheduled", 1), "taskPriority", map[string]any{"high": "10", "mid": nil}[want])
		w.respond(got, activity("2", "taskPriority", "0"), activity("1", "taskPriority", "5"), activity("3", "taskPriority", "0"))
		for _, id := range []string{"1", "2", "3"} {
			if got := w.worker(); got.activity.ActivityID != id {
				t.Errorf("activity %s, want %s", got.activity.ActivityID, id)
			}
		}
	}
}
