package sfn_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestRedrive redrives an execution that has failed. Successful work is not repeated.
func TestRedrive(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	machine := s.create("Two", `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "`+activity+`", "Next": "Two"},
		"Two": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}`)
	arn := s.start(machine, "x", `{}`)
	task := func() string {
		return s.call("GetActivityTask", object{"activityArn": activity})["taskToken"].(string)
	}
	notRedrivable := func(reason string) {
		t.Helper()
		s.refused("RedriveExecution", object{"executionArn": arn}, "ExecutionNotRedrivable", "Execution Not Redrivable: '"+reason+"'")
	}
	s.call("SendTaskSuccess", object{"taskToken": task(), "output": "1"})
	token := task()
	notRedrivable("Execution is RUNNING and cannot be redriven")
	s.call("SendTaskFailure", object{"taskToken": token, "error": "Bad"})
	if x := s.execution(arn); x["status"] != "FAILED" || x["redriveStatus"] != "REDRIVABLE" || x["redriveDate"] != nil {
		t.Fatalf("%v", x)
	}
	first := s.call("RedriveExecution", object{"executionArn": arn, "clientToken": "abc"})
	if again := s.call("RedriveExecution", object{"executionArn": arn, "clientToken": "abc"}); again["redriveDate"] != first["redriveDate"] {
		t.Errorf("%v, then %v", first, again)
	}
	x := s.call("DescribeExecution", object{"executionArn": arn})
	if x["status"] != "RUNNING" || x["redriveCount"] != 1.0 || x["redriveDate"] != first["redriveDate"] || x["stopDate"] != nil || x["error"] != nil {
		t.Errorf("%v", x)
	}
	s.call("SendTaskSuccess", object{"taskToken": task(), "output": "2"})
	if x := s.execution(arn); x["status"] != "SUCCEEDED" || x["output"] != "2" || x["redriveCount"] != 1.0 {
		t.Errorf("%v", x)
	}
	notRedrivable("Execution is SUCCEEDED and cannot be redriven")
	events, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": arn})
	seen := map[any]int{}
	for i, e := range events {
		if seen[e["type"]]++; e["id"] != float64(i+1) {
			t.Errorf("event %d is %v", i+1, e)
		}
		if e["type"] == "ExecutionRedriven" && e["executionRedrivenEventDetails"].(object)["redriveCount"] != 1.0 {
			t.Errorf("%v", e)
		}
	}
	if seen["ExecutionRedriven"] != 1 || seen["ExecutionFailed"] != 1 || seen["ActivityScheduled"] != 3 || seen["ExecutionSucceeded"] != 1 {
		t.Errorf("%v", seen)
	}
	s.call("StopExecution", object{"executionArn": s.start(machine, "y", `{}`)})
	for filter, want := range map[string]string{"REDRIVEN": "x", "NOT_REDRIVEN": "y"} {
		list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": machine, "redriveFilter": filter})
		if len(list) != 1 || list[0]["name"] != want || (list[0]["redriveDate"] != nil) != (want == "x") {
			t.Errorf("%s: %v", filter, list)
		}
	}
}

// TestRedriveDate reports when an execution was redriven also after it has failed again.
func TestRedriveDate(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	machine := s.create("One", `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}`)
	arn := s.start(machine, "x", `{}`)
	for _, end := range []string{"SendTaskFailure", "SendTaskFailure", "SendTaskSuccess"} {
		s.call("StopExecution", object{"executionArn": arn})
		redriven := s.call("RedriveExecution", object{"executionArn": arn})["redriveDate"]
		task := s.call("GetActivityTask", object{"activityArn": activity})["taskToken"].(string)
		s.call(end, object{"taskToken": task, "output": "1"})
		if x := s.execution(arn); x["redriveDate"] != redriven {
			t.Errorf("%s: redriven at %v: %v", end, redriven, x)
		}
		list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": machine})
		if len(list) != 1 || list[0]["redriveDate"] != redriven {
			t.Errorf("%s: redriven at %v: %v", end, redriven, list)
		}
	}
}

// TestRedriveUndone refuses to redrive an execution that Ebb has undone, and says what was undone.
func TestRedriveUndone(t *testing.T) {
	t.Parallel()
	const function = "arn:aws:lambda:us-east-1:000000000000:function:f"
	registry := &tasks.Registry{}
	registry.Add(function, idle{})
	s := serveOn(t, memstore.New(), registry)
	machine := s.create("Saga", `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "`+function+`", "Revert": "`+function+`", "Next": "Two"},
		"Two": {"Type": "Task", "Resource": "`+function+`", "Revert": "`+function+`", "Next": "Bad"},
		"Bad": {"Type": "Fail", "Error": "Bad"}}}`)
	arn := s.start(machine, "x", `{}`)
	const reason = "Execution was undone by Ebb and cannot be redriven. Undone: Two, One"
	x := s.execution(arn)
	if x["status"] != "FAILED" || x["redriveStatus"] != "NOT_REDRIVABLE" || x["redriveStatusReason"] != reason {
		t.Errorf("%v", x)
	}
	s.refused("RedriveExecution", object{"executionArn": arn}, "ExecutionNotRedrivable",
		"Execution Not Redrivable: '"+reason+"'")
}

// An idle task does nothing, and undoes nothing.
type idle struct{}

func (idle) Execute(context.Context, atom.Values) (atom.Value, error) { return atom.Null, nil }

func (idle) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (idle) Reverts() bool { return true }

// TestRedriveMapRun redrives the map run of an execution with it.
func TestRedriveMapRun(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	arn := s.start(s.create("Map", distributed(``)), "m", `[1, 0, 2]`)
	if x := s.execution(arn); x["status"] != "FAILED" {
		t.Fatalf("%v", x)
	}
	s.call("RedriveExecution", object{"executionArn": arn})
	if x := s.execution(arn); x["status"] != "FAILED" || x["redriveCount"] != 1.0 {
		t.Errorf("%v", x)
	}
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	d := s.call("DescribeMapRun", object{"mapRunArn": list[0]["mapRunArn"]})
	if d["status"] != "FAILED" || d["redriveCount"] != 1.0 || d["redriveDate"] == nil {
		t.Errorf("%v", d)
	}
}

// TestRedriveWhileEnding redrives an execution that has failed while an execution of its map run is still ending.
func TestRedriveWhileEnding(t *testing.T) {
	t.Parallel()
	s := serveOn(t, &lateCancel{Store: memstore.New()}, nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	arn := s.start(s.create("Map", `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Work", "States": {
			"Work": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}}}}`), "m", `[0, 1]`)
	token := s.task(activity)
	s.task(activity)
	s.call("SendTaskFailure", object{"taskToken": token})
	if x := s.execution(arn); x["status"] != "FAILED" {
		t.Fatalf("%v", x)
	}
	s.call("RedriveExecution", object{"executionArn": arn})
	if x := s.call("DescribeExecution", object{"executionArn": arn}); x["status"] != "RUNNING" || x["redriveCount"] != 1.0 {
		t.Errorf("%v", x)
	}
	for range 2 {
		s.call("SendTaskSuccess", object{"taskToken": s.task(activity), "output": "1"})
	}
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Errorf("%v", x)
	}
}

// A lateCancel is a store in which a run learns that it is cancelled when another one was requested twice to continue.
type lateCancel struct {
	backend.Store

	retries atomic.Int32
}

func (s *lateCancel) Send(ctx context.Context, messages ...storage.Message) error {
	if messages[0].Kind == backend.MessageRetry {
		s.retries.Add(1)
	}
	return s.Store.Send(ctx, messages...)
}

func (s *lateCancel) isHidden(m storage.Message) bool {
	return m.Kind == backend.MessageCancel && s.retries.Load() < 2
}

func (s *lateCancel) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	wakeups, messages, err := s.Store.Messages(ctx, run, after)
	if slices.ContainsFunc(messages, s.isHidden) {
		return after, nil, err
	}
	return wakeups, messages, err
}

func (s *lateCancel) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	due, next, err := s.Store.Due(ctx, q)
	return slices.DeleteFunc(due, func(d backend.Due) bool {
		return slices.ContainsFunc(d.Snapshot.Messages, s.isHidden)
	}), next, err
}

// TestPendingRedrive shows which executions of a redriven map run wait to be continued, in each answer alike.
func TestPendingRedrive(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	arn := s.start(s.create("Map", `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "MaxConcurrency": 1, "ToleratedFailureCount": 1,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Work", "States": {
			"Work": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}, "End": true}}}`), "m", `[1, 2]`)
	for range 2 {
		s.call("SendTaskFailure", object{"taskToken": s.task(activity)})
	}
	s.execution(arn)
	s.call("RedriveExecution", object{"executionArn": arn})
	token := s.task(activity)
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	run := list[0]["mapRunArn"].(string)
	seen := func(want object) {
		t.Helper()
		s.counts(run, object{
			"running": want["RUNNING"], "pendingRedrive": want["PENDING_REDRIVE"], "failed": want["FAILED"], "total": 2.0,
		})
		for status, n := range want {
			list, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run, "statusFilter": status})
			if float64(len(list)) != n {
				t.Errorf("%s: %v of %v", status, list, n)
			}
			for _, x := range list {
				d := s.call("DescribeExecution", object{"executionArn": x["executionArn"]})
				if x["status"] != status || d["status"] != status {
					t.Errorf("%s: %v, %v", status, x, d)
				}
			}
		}
	}
	seen(object{"RUNNING": 1.0, "PENDING_REDRIVE": 1.0, "FAILED": 0.0})
	s.call("SendTaskFailure", object{"taskToken": token})
	token = s.task(activity)
	seen(object{"RUNNING": 1.0, "PENDING_REDRIVE": 0.0, "FAILED": 1.0})
	s.call("SendTaskFailure", object{"taskToken": token})
	s.execution(arn)
	seen(object{"RUNNING": 0.0, "PENDING_REDRIVE": 0.0, "FAILED": 2.0})
}
