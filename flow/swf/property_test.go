package swf_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// TestRandomDeciders runs random deciders, workers, callers and clocks, with small quotas, so that every decision
// succeeds and fails, late and repeated answers come, and histories reach their limit. After each answer the world
// compares each event with the table, its references with the events before it, and what is open by the events with
// the memory and the nodes. At the end each execution has at most one closing event, which is the last one.
//
// Guarantee (Undo on Amazon SWF): The type that undoes an activity is the one registered when a worker took the
// activity.
func TestRandomDeciders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, swf.Settings{Events: rapid.SampledFrom([]int64{30, 80, 25000}).Draw(rt, "events"), OpenActivities: 2, OpenTimers: 2, OpenChildren: 2, OpenLambdas: 2, Undo: undoes})
		r := &randomClient{w: w, rt: rt}
		defer func() {
			if t.Failed() {
				for _, run := range w.order {
					t.Logf("%s\n%s", run.info.Key, run.story())
				}
			}
		}()
		w.function = r.function
		r.start("w1")
		for range rapid.IntRange(5, 60).Draw(rt, "steps") {
			r.step()
		}
		signals, full := 0, 0
		for _, run := range w.order {
			closing := 0
			for i, e := range run.events {
				if e.Type == "WorkflowExecutionSignaled" {
					signals++
				}
				if strings.Contains(e.Details.String(), "EVENT_LIMIT_EXCEEDED") {
					full++ // instead of an event, which may be that of a signal
				}
				if closes[e.Type] {
					closing++
					if i < len(run.events)-1 {
						t.Errorf("%s is not the last event\n%s", e.Type, run.story())
					}
				}
			}
			if (closing == 1) != (run.end != nil) || closing > 1 {
				t.Errorf("%d closing events\n%s", closing, run.story())
			}
		}
		checkUndone(t, w)
		if signals > w.signals || signals+full < w.signals {
			t.Errorf("%d signals were accepted or delivered, %d are in the histories", w.signals, signals)
		}
	})
}

var closes = map[string]bool{
	"WorkflowExecutionCompleted": true, "WorkflowExecutionFailed": true, "WorkflowExecutionCanceled": true,
	"WorkflowExecutionTimedOut": true, "WorkflowExecutionTerminated": true, "WorkflowExecutionContinuedAsNew": true,
}

type randomClient struct {
	w     *world
	rt    *rapid.T
	tasks []*task // decision tasks, also answered ones
	work  []*task // activity tasks, also answered ones
}

func (r *randomClient) pick(of ...string) string { return rapid.SampledFrom(of).Draw(r.rt, "pick") }

func (r *randomClient) timeout() string { return r.pick("0", "1", "3", "20", "NONE") }

func (r *randomClient) function(string, json.RawMessage) (string, *atom.Failure, time.Duration) {
	if r.pick("ok", "fail") == "fail" {
		return "", &atom.Failure{Code: "Boom"}, second
	}
	return `1`, nil, time.Duration(rapid.IntRange(0, 5).Draw(r.rt, "after")) * second
}

func (r *randomClient) start(id string) {
	if r.w.keys[swf.Key(domain, id)] == nil {
		r.w.start(id, func(s *swf.Start) {
			s.TaskStartToCloseTimeout, s.ExecutionStartToCloseTimeout = r.timeout(), r.pick("5", "30", "300")
			s.ChildPolicy, s.LambdaRole = r.pick("TERMINATE", "REQUEST_CANCEL", "ABANDON"), r.pick("", "r")
		})
	}
}

func (r *randomClient) step() {
	w := r.w
	runs := w.order
	run := runs[rapid.IntRange(0, len(runs)-1).Draw(r.rt, "run")]
	switch r.pick("poll", "poll", "respond", "respond", "respond", "work", "work", "advance", "signal", "cancel", "terminate", "start", "heartbeat", "repeat") {
	case "poll":
		if got := w.poll(swf.DecisionQueue(domain, r.pick("dl", "cl", "o")), "d"); got != nil {
			r.tasks = append(r.tasks, got)
		}
	case "respond":
		if len(r.tasks) == 0 {
			return
		}
		got := r.tasks[len(r.tasks)-1]
		if r.pick("last", "last", "any") == "any" {
			got = rapid.SampledFrom(r.tasks).Draw(r.rt, "task")
		}
		r.respond(got)
	case "work":
		if got := w.poll(swf.ActivityQueue(domain, r.pick("al", "al", "at-default", "undo")), "a"); got != nil {
			r.work = append(r.work, got)
		}
		if len(r.work) > 0 {
			r.end(rapid.SampledFrom(r.work).Draw(r.rt, "work"))
		}
	case "heartbeat":
		for _, got := range r.work {
			if !got.node.over {
				w.heartbeat(got, "beat")
			}
		}
	case "advance":
		w.advance(time.Duration(rapid.SampledFrom([]int{0, 100, 1000, 5000, 40000}).Draw(r.rt, "ms")) * time.Millisecond)
	case "signal":
		if w.call(run, swf.CallSignal, swf.Signal{SignalName: r.pick("s", swf.SignalRetry, swf.SignalSkip)}) == nil {
			w.signals++
		}
	case "cancel":
		_ = w.call(run, swf.CallRequestCancel, nil)
	case "terminate":
		if r.pick("no", "no", "yes") == "yes" {
			_ = w.call(run, swf.CallTerminate, swf.Termination{ChildPolicy: r.pick("", "TERMINATE", "REQUEST_CANCEL")})
		}
	case "start":
		r.start(r.pick("w1", "w2", "c1"))
	}
	w.settle()
}

func (r *randomClient) end(got *task) {
	open := !got.node.over && got.node.run.end == nil
	cause := grow.Cause{Kind: grow.Ended, Result: swf.Text(nil)}
	switch r.pick("ok", "fail", "cancel") {
	case "fail":
		cause = grow.Cause{Kind: grow.Failed, Failure: swf.ActivityFailed(new("r"), nil)}
	case "cancel":
		cause = grow.Cause{Kind: grow.Failed, Failure: swf.ActivityCanceled(nil)}
	}
	if fault := r.w.answer(got, cause); (fault == nil) != open {
		r.w.t.Errorf("open %t: %v", open, fault)
	}
}

// respond answers with a random batch. A late answer must be refused, and a valid one accepted.
func (r *randomClient) respond(got *task) {
	var batch []string
	for range rapid.IntRange(0, 5).Draw(r.rt, "decisions") {
		batch = append(batch, r.decision())
	}
	if r.pick("stay", "stay", "stay", "close") == "close" {
		batch = append(batch, decide(r.pick("CompleteWorkflowExecution", "FailWorkflowExecution", "CancelWorkflowExecution", "ContinueAsNewWorkflowExecution"),
			"taskList", named("dl")))
	}
	c := swf.Completion{}
	if r.pick("no", "no", "override") == "override" {
		c.TaskList = &swf.TaskList{Name: r.pick("o", "dl")}
		c.TaskListScheduleToStartTimeout = r.pick("", "1", "10")
	}
	invalid := r.pick("no", "no", "no", "no", "invalid") == "invalid"
	if invalid {
		batch = append([]string{complete}, append(batch, marker("x"))...)
	}
	open := !got.node.over && got.node.run.end == nil
	if fault := r.w.complete(got, c, batch...); (fault == nil) != (open && !invalid) {
		r.w.t.Errorf("open %t, invalid %t: %v\n%s", open, invalid, fault, got.node.run.story())
	}
}

func (r *randomClient) decision() string {
	id := r.pick("1", "2", "3")
	other := r.pick("w1", "w2", "c1", "c2")
	switch r.pick("activity", "activity", "cancelActivity", "timer", "cancelTimer", "marker", "signal", "cancelExternal", "child", "lambda") {
	case "activity":
		return activity(id, "activityType", typed(r.pick("at", "at", "at", "at-dep", "at-bare", "none")), "heartbeatTimeout", r.timeout(),
			"scheduleToStartTimeout", r.timeout(), "startToCloseTimeout", r.timeout(), "scheduleToCloseTimeout", r.timeout())
	case "cancelActivity":
		return decide("RequestCancelActivityTask", "activityId", id)
	case "timer":
		return timer(id, r.pick("0", "1", "5", "30"))
	case "cancelTimer":
		return decide("CancelTimer", "timerId", id)
	case "signal":
		return decide("SignalExternalWorkflowExecution", "workflowId", other, "signalName", "s")
	case "cancelExternal":
		return decide("RequestCancelExternalWorkflowExecution", "workflowId", other)
	case "child":
		return startChild(other, "taskList", named(r.pick("cl", "dl")), "workflowType", typed(r.pick("wt", "wt", "wt", "wt-dep", "wt-bare")),
			"executionStartToCloseTimeout", r.pick("3", "50"), "childPolicy", r.pick("TERMINATE", "REQUEST_CANCEL", "ABANDON"))
	case "lambda":
		return decide("ScheduleLambdaFunction", "id", id, "name", "f", "startToCloseTimeout", "2")
	default:
		return marker(fmt.Sprint("m", id))
	}
}
