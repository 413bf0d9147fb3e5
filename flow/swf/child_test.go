package swf_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// family starts an execution with one open child.
func family(t *testing.T, mods ...func(*swf.Start)) (w *world, parent, child *simRun) {
	t.Helper()
	w = newWorld(t, swf.Settings{})
	parent = w.start("w", mods...)
	w.decide(startChild("c", "tagList", []string{"ct"}, "executionStartToCloseTimeout", "100"))
	return w, parent, w.order[1]
}

// TestChildren ends a child in each of the five ways.
func TestChildren(t *testing.T) {
	t.Parallel()
	for event, c := range map[string]struct {
		end  func(w *world, child *simRun)
		want []any
	}{
		"ChildWorkflowExecutionCompleted": {func(w *world, _ *simRun) { w.respond(w.decider("cl"), complete) }, []any{"result", "res"}},
		"ChildWorkflowExecutionFailed": {func(w *world, _ *simRun) {
			w.respond(w.decider("cl"), decide("FailWorkflowExecution", "reason", "r", "details", "d"))
		}, []any{"reason", "r", "details", "d"}},
		"ChildWorkflowExecutionCanceled": {func(w *world, _ *simRun) {
			w.respond(w.decider("cl"), decide("CancelWorkflowExecution", "details", "bye"))
		}, []any{"details", "bye"}},
		"ChildWorkflowExecutionTerminated": {func(w *world, c *simRun) { _ = w.call(c, swf.CallTerminate, swf.Termination{}) }, nil},
		"ChildWorkflowExecutionTimedOut":   {func(w *world, _ *simRun) { w.advance(100 * second) }, []any{"timeoutType", "START_TO_CLOSE"}},
	} {
		w, r, child := family(t)
		r.ends(5, "StartChildWorkflowExecutionInitiated", "ChildWorkflowExecutionStarted", "DecisionTaskScheduled")
		expect(t, r.event("StartChildWorkflowExecutionInitiated", 1), "workflowId", "c", "control", "child-ctl", "input", "child-in",
			"childPolicy", "TERMINATE", "taskPriority", "3", "executionStartToCloseTimeout", "100", "taskStartToCloseTimeout", "60",
			"decisionTaskCompletedEventId", 4)
		started := child.event("WorkflowExecutionStarted", 1)
		expect(t, started, "parentInitiatedEventId", 5, "executionStartToCloseTimeout", "100", "continuedExecutionRunId", nil)
		if p, _ := started["parentWorkflowExecution"].(map[string]any); p["workflowId"] != "w" || p["runId"] != r.info.ID {
			t.Errorf("the parent is %v", p)
		}
		w.decide()
		c.end(w, child)
		a := r.event(event, 1)
		expect(t, a, append(c.want, "initiatedEventId", 5, "startedEventId", 6)...)
		if e, _ := a["workflowExecution"].(map[string]any); e["workflowId"] != "c" || e["runId"] != child.info.ID {
			t.Errorf("%s of %v", event, e)
		}
		w.decide(complete)
	}
}

// TestChildContinues follows a child that continues as new: the parent sees only the end of the last run, which keeps
// the link to the parent and its workflowId.
func TestChildContinues(t *testing.T) {
	t.Parallel()
	w, r, child := family(t)
	w.respond(w.decider("cl"), decide("ContinueAsNewWorkflowExecution", "taskList", named("cl"), "input", "next"))
	if r.last("ChildWorkflowExecutionCompleted") != 0 || child.labels[swf.LabelCloseStatus] != "d/CONTINUED_AS_NEW" {
		t.Errorf("%s", r.story())
	}
	next := w.order[2]
	started := next.event("WorkflowExecutionStarted", 1)
	expect(t, started, "parentInitiatedEventId", 5, "continuedExecutionRunId", child.info.ID, "input", "next")
	w.decide()
	w.respond(w.decider("cl"), complete)
	a := r.event("ChildWorkflowExecutionCompleted", 1)
	if e, _ := a["workflowExecution"].(map[string]any); e["runId"] != next.info.ID || a["startedEventId"] != 6.0 {
		t.Errorf("%v, want the run %s", a, next.info.ID)
	}
}

// TestStartChildFailures causes every failure of the decision. Only a taken workflowId has an event before it.
func TestStartChildFailures(t *testing.T) {
	t.Parallel()
	bare := []any{"workflowType", typed("wt-bare"), "executionStartToCloseTimeout", "9", "taskStartToCloseTimeout", "9", "childPolicy", "ABANDON"}
	without := func(member string) string {
		pairs := []any{"workflowType", typed("wt-bare")}
		for i := 2; i < len(bare); i += 2 {
			if bare[i] != member {
				pairs = append(pairs, bare[i], bare[i+1])
			}
		}
		if member == "taskList" {
			pairs = append(pairs, "taskList", nil)
		}
		return startChild("c", pairs...)
	}
	for cause, decisions := range map[string][]string{
		"WORKFLOW_TYPE_DOES_NOT_EXIST":                       {startChild("c", "workflowType", typed("none"))},
		"WORKFLOW_TYPE_DEPRECATED":                           {startChild("c", "workflowType", typed("wt-dep"))},
		"DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED": {without("executionStartToCloseTimeout")},
		"DEFAULT_TASK_LIST_UNDEFINED":                        {without("taskList")},
		"DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED":      {without("taskStartToCloseTimeout")},
		"DEFAULT_CHILD_POLICY_UNDEFINED":                     {without("childPolicy")},
		"OPEN_CHILDREN_LIMIT_EXCEEDED":                       {startChild("1"), startChild("2"), startChild("c")},
		"WORKFLOW_ALREADY_RUNNING":                           {startChild("open")},
	} {
		w := newWorld(t, swf.Settings{OpenChildren: 2})
		w.start("open", func(s *swf.Start) { s.TaskList.Name = "other" })
		r := w.start("w")
		w.decide(decisions...)
		a := r.event("StartChildWorkflowExecutionFailed", 1)
		expect(t, a, "cause", cause, "decisionTaskCompletedEventId", 4, "control", "child-ctl")
		if cause == "WORKFLOW_ALREADY_RUNNING" {
			expect(t, a, "initiatedEventId", 5, "workflowId", "open")
			r.ends(5, "StartChildWorkflowExecutionInitiated", "StartChildWorkflowExecutionFailed", "DecisionTaskScheduled")
		} else {
			expect(t, a, "initiatedEventId", 0, "workflowId", "c")
		}
		w.decide(complete)
	}
}

// TestChildPolicy applies each policy, and the ninth trap: only terminate and timeout apply it.
func TestChildPolicy(t *testing.T) {
	t.Parallel()
	terminated := func(t *testing.T, c *simRun) {
		expect(t, c.event("WorkflowExecutionTerminated", 1), "cause", "CHILD_POLICY_APPLIED", "childPolicy", "TERMINATE", "reason", nil)
	}
	asked := func(t *testing.T, c *simRun) {
		a := c.event("WorkflowExecutionCancelRequested", 1)
		expect(t, a, "cause", "CHILD_POLICY_APPLIED", "externalInitiatedEventId", 0)
		if e, _ := a["externalWorkflowExecution"].(map[string]any); e["workflowId"] != "w" || c.end != nil {
			t.Errorf("%v", a)
		}
		if c.labels[swf.LabelCancelRequested] != "true" {
			t.Error("no label")
		}
	}
	left := func(t *testing.T, c *simRun) {
		if c.end != nil || len(c.events) != 2 {
			t.Errorf("the child is not left alone\n%s", c.story())
		}
	}
	terminate := func(policy string) func(*world, *simRun) {
		return func(w *world, r *simRun) {
			if fault := w.call(r, swf.CallTerminate, swf.Termination{ChildPolicy: policy, Reason: new("rsn"), Details: new("det")}); fault != nil {
				t.Error(fault)
			}
			want := map[string]string{"": r.event("WorkflowExecutionStarted", 1)["childPolicy"].(string)}[policy] + policy
			expect(t, r.event("WorkflowExecutionTerminated", 1), "reason", "rsn", "details", "det", "cause", "OPERATOR_INITIATED", "childPolicy", want)
		}
	}
	for name, c := range map[string]struct {
		policy string
		end    func(*world, *simRun)
		check  func(*testing.T, *simRun)
	}{
		"terminate":            {swf.PolicyTerminate, terminate(""), terminated},
		"request cancel":       {swf.PolicyRequestCancel, terminate(""), asked},
		"abandon":              {swf.PolicyAbandon, terminate(""), left},
		"override":             {swf.PolicyAbandon, terminate(swf.PolicyTerminate), terminated},
		"override to abandon":  {swf.PolicyTerminate, terminate(swf.PolicyAbandon), left},
		"timeout":              {swf.PolicyTerminate, func(w *world, _ *simRun) { w.advance(50 * second) }, terminated},
		"timeout with request": {swf.PolicyRequestCancel, func(w *world, _ *simRun) { w.advance(50 * second) }, asked},
		"complete":             {swf.PolicyTerminate, func(w *world, _ *simRun) { w.decide(complete) }, left},
		"fail":                 {swf.PolicyTerminate, func(w *world, _ *simRun) { w.decide(decide("FailWorkflowExecution")) }, left},
		"cancel":               {swf.PolicyTerminate, func(w *world, _ *simRun) { w.decide(decide("CancelWorkflowExecution")) }, left},
		"continue as new":      {swf.PolicyTerminate, func(w *world, _ *simRun) { w.decide(decide("ContinueAsNewWorkflowExecution")) }, left},
		"stopped": {swf.PolicyTerminate, func(_ *world, r *simRun) {
			w := r.world
			g := w.lang.Grow(&grow.Ask{Run: r.info, Memory: r.memory, Event: 100, Now: w.now, Cause: grow.Cause{
				Kind: grow.Stopped, Failure: &atom.Failure{Message: "by hand"},
			}})
			if len(g.Events) != 1 || len(g.Leave) != 1 || len(g.Send) != 1 || !strings.Contains(g.Events[0].Details.String(), "by hand") {
				t.Errorf("%+v", g)
			}
			w.deliver(r, g.Send[0])
		}, terminated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, parent, child := family(t, func(s *swf.Start) { s.ChildPolicy, s.ExecutionStartToCloseTimeout = c.policy, "50" })
			c.end(w, parent)
			w.settle()
			c.check(t, child)
		})
	}
}

// TestChildPolicyOfGrandchildren terminates an execution: its child applies its own policy to its children.
func TestChildPolicyOfGrandchildren(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	top := w.start("w")
	w.decide(startChild("c"))
	w.respond(w.decider("cl"), startChild("g", "taskList", named("gl")), startChild("g2", "taskList", named("gl"), "childPolicy", "ABANDON"))
	w.respond(w.decider("gl"), startChild("gg"))
	w.respond(w.decider("gl"), startChild("abandoned"))
	_ = w.call(top, swf.CallTerminate, swf.Termination{})
	for _, r := range w.order[:5] {
		if r.labels[swf.LabelCloseStatus] != "d/TERMINATED" {
			t.Errorf("%s is %q\n%s", r.info.Key, r.labels[swf.LabelCloseStatus], r.story())
		}
	}
	if last := w.order[5]; last.end != nil {
		t.Errorf("the abandoned grandchild has ended\n%s", last.story())
	}
}

// TestPolicyOfAnotherParent ignores a policy that is not for this execution, which has the workflowId of a child that
// closed.
func TestPolicyOfAnotherParent(t *testing.T) {
	t.Parallel()
	w, parent, _ := family(t)
	other := w.start("other", func(s *swf.Start) { s.TaskList.Name = "x" })
	for _, name := range []string{"terminate", "cancelPolicy"} {
		w.deliver(parent, grow.Message{
			ToKey: other.info.Key, Kind: swf.MessageExecution, Name: name, Body: atom.FromJSON([]byte(`{"workflowId":"w","initiated":5}`)),
		})
	}
	if len(other.events) != 2 {
		t.Error(other.story())
	}
}

// TestExternal signals another execution, asks for its cancel, and does both to the execution itself and to one that
// is not open.
func TestExternal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	other := w.start("o", func(s *swf.Start) { s.TaskList.Name = "ol" })
	r := w.start("w")
	signal := func(id string, more ...any) string {
		return decide("SignalExternalWorkflowExecution", append([]any{"workflowId", id, "signalName", "s", "input", "p", "control", "c"}, more...)...)
	}
	cancel := func(id string, more ...any) string {
		return decide("RequestCancelExternalWorkflowExecution", append([]any{"workflowId", id, "control", "c"}, more...)...)
	}
	w.decide(signal("o"), cancel("o"), signal("none"), cancel("none"), signal("o", "runId", "another"), signal("o", "runId", other.info.ID))
	r.ends(5, "SignalExternalWorkflowExecutionInitiated", "RequestCancelExternalWorkflowExecutionInitiated",
		"SignalExternalWorkflowExecutionInitiated", "RequestCancelExternalWorkflowExecutionInitiated",
		"SignalExternalWorkflowExecutionInitiated", "SignalExternalWorkflowExecutionInitiated",
		"ExternalWorkflowExecutionSignaled", "DecisionTaskScheduled", "ExternalWorkflowExecutionCancelRequested",
		"SignalExternalWorkflowExecutionFailed", "RequestCancelExternalWorkflowExecutionFailed",
		"SignalExternalWorkflowExecutionFailed", "ExternalWorkflowExecutionSignaled")
	expect(t, r.event("SignalExternalWorkflowExecutionInitiated", 1), "workflowId", "o", "signalName", "s", "input", "p", "control", "c",
		"decisionTaskCompletedEventId", 4, "runId", nil)
	delivered := r.event("ExternalWorkflowExecutionSignaled", 1)
	expect(t, delivered, "initiatedEventId", 5)
	if e, _ := delivered["workflowExecution"].(map[string]any); e["workflowId"] != "o" || e["runId"] != other.info.ID {
		t.Errorf("delivered to %v", e)
	}
	expect(t, r.event("SignalExternalWorkflowExecutionFailed", 1), "cause", "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION", "workflowId", "none",
		"initiatedEventId", 7, "decisionTaskCompletedEventId", 4, "control", "c", "runId", nil)
	expect(t, r.event("SignalExternalWorkflowExecutionFailed", 2), "runId", "another", "initiatedEventId", 9)
	expect(t, r.event("RequestCancelExternalWorkflowExecutionFailed", 1), "cause", "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION", "initiatedEventId", 8)
	got := other.event("WorkflowExecutionSignaled", 1)
	expect(t, got, "signalName", "s", "input", "p", "externalInitiatedEventId", 5)
	if e, _ := got["externalWorkflowExecution"].(map[string]any); e["workflowId"] != "w" || e["runId"] != r.info.ID {
		t.Errorf("the signal is from %v", e)
	}
	expect(t, other.event("WorkflowExecutionCancelRequested", 1), "externalInitiatedEventId", 6, "cause", nil)

	w.decide(signal("w"), cancel("w"))
	expect(t, r.event("WorkflowExecutionSignaled", 1), "externalInitiatedEventId", 20)
	expect(t, r.event("WorkflowExecutionCancelRequested", 1), "externalInitiatedEventId", 21)
	if r.last("ExternalWorkflowExecutionSignaled") < r.last("WorkflowExecutionSignaled") {
		t.Error(r.story())
	}
	if r.labels[swf.LabelCancelRequested] != "true" {
		t.Error("no cancel is requested")
	}
	w.decide(complete)
}

// TestCallsOfTheAPI signals, asks for a cancel, twice, and terminates.
func TestCallsOfTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Settings{})
	r := w.start("w")
	w.decide()
	w.signal(r, "s")
	expect(t, r.event("WorkflowExecutionSignaled", 1), "signalName", "s", "input", "i-s", "externalInitiatedEventId", 0, "externalWorkflowExecution", nil)
	for range 2 {
		if fault := w.call(r, swf.CallRequestCancel, nil); fault != nil {
			t.Error(fault)
		}
	}
	r.ends(5, "WorkflowExecutionSignaled", "DecisionTaskScheduled", "WorkflowExecutionCancelRequested", "WorkflowExecutionCancelRequested")
	expect(t, r.event("WorkflowExecutionCancelRequested", 2), "cause", nil, "externalInitiatedEventId", 0)
	for name, body := range map[string]any{"other": nil, swf.CallSignal: map[string]any{}, swf.CallTerminate: 7} {
		if fault := w.call(r, name, body); fault == nil {
			t.Errorf("the call %s of %v is accepted", name, body)
		}
	}
	got := w.decider()
	_ = w.call(r, swf.CallTerminate, swf.Termination{})
	if fault := w.complete(got, swf.Completion{}); fault == nil {
		t.Error("an answer after the termination is accepted")
	}
	w.advance(time.Hour)
	r.ends(10, "WorkflowExecutionTerminated")
	// An operator's signal to the run is one of the API; other messages are not for executions.
	r = w.start("w2")
	r.ask(grow.Cause{Kind: grow.Told, Message: grow.MessageSignal, Name: "by hand", Result: atom.FromJSON([]byte(`{"a":1}`))}, nil)
	expect(t, r.event("WorkflowExecutionSignaled", 1), "signalName", "by hand", "input", `{"a":1}`)
	r.ask(grow.Cause{Kind: grow.Told, Message: grow.MessageEvent, Name: "e", Result: atom.Null}, nil)
	r.ends(4)
}
