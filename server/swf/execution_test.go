package swf_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
)

// types registers a domain d with a workflow type and an activity type, both called t, with all defaults.
func (w *world) types(t *testing.T) {
	t.Helper()
	w.domain(t, "d")
	w.must(t, "RegisterWorkflowType", object{
		"domain": "d", "name": "t", "version": "1", "defaultTaskList": object{"name": "l"}, "defaultChildPolicy": "TERMINATE",
		"defaultTaskStartToCloseTimeout": "60", "defaultExecutionStartToCloseTimeout": "3600",
	})
	w.must(t, "RegisterActivityType", object{
		"domain": "d", "name": "t", "version": "1", "defaultTaskList": object{"name": "a"}, "defaultTaskHeartbeatTimeout": "NONE",
		"defaultTaskStartToCloseTimeout": "60", "defaultTaskScheduleToStartTimeout": "60", "defaultTaskScheduleToCloseTimeout": "60",
	})
}

// start starts an execution of the type t, and returns its runId.
func (w *world) start(t *testing.T, id string, more ...any) string {
	t.Helper()
	params := object{"domain": "d", "workflowId": id, "workflowType": typeOf("t", "1")}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return w.must(t, "StartWorkflowExecution", params)["runId"].(string)
}

// poll takes a decision task from the task list l, or an activity task from a.
func (w *world) poll(t *testing.T, list string, more ...any) object {
	t.Helper()
	params := object{"domain": "d", "taskList": object{"name": list}}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	operation := "PollForDecisionTask"
	if list == "a" {
		operation = "PollForActivityTask"
	}
	return w.must(t, operation, params)
}

// decide takes a decision task and completes it.
func (w *world) decide(t *testing.T, decisions ...object) object {
	t.Helper()
	task := w.poll(t, "l")
	w.must(t, "RespondDecisionTaskCompleted", object{"taskToken": task["taskToken"], "decisions": decisions})
	return task
}

func schedule(id string) object {
	return object{
		"decisionType":                           "ScheduleActivityTask",
		"scheduleActivityTaskDecisionAttributes": object{"activityId": id, "activityType": typeOf("t", "1"), "input": "in"},
	}
}

var complete = object{"decisionType": "CompleteWorkflowExecution", "completeWorkflowExecutionDecisionAttributes": object{}}

// ofX names an execution with the workflowId x.
func ofX(run string) object { return object{"workflowId": "x", "runId": run} }

// TestExecution plays an execution with one activity.
func TestExecution(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	run := w.start(t, "x", "input", "hello", "tagList", []string{"red"})
	w.refuses(t, "StartWorkflowExecution", object{"domain": "d", "workflowId": "x", "workflowType": typeOf("t", "1")},
		"WorkflowExecutionAlreadyStartedFault", "Already Started")
	w.decide(t, schedule("a1"))
	task := w.poll(t, "a")
	if task["activityId"] != "a1" || task["input"] != "in" || task["startedEventId"] != 6.0 {
		t.Errorf("%v", task)
	}
	w.must(t, "RespondActivityTaskCompleted", object{"taskToken": task["taskToken"], "result": "done"})
	w.decide(t, complete)
	out := w.must(t, "GetWorkflowExecutionHistory", object{"domain": "d", "execution": ofX(run)})
	events := out["events"].([]any)
	last := events[len(events)-1].(object)
	if last["eventType"] != "WorkflowExecutionCompleted" || last["eventId"] != 11.0 || len(events) != 11 {
		t.Errorf("%v", last)
	}
	info := w.must(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": ofX(run)})
	if got := fmt.Sprint(info["executionInfo"].(object)["closeStatus"], info["openCounts"]); got !=
		"COMPLETEDmap[openActivityTasks:0 openChildWorkflowExecutions:0 openDecisionTasks:0 openLambdaFunctions:0 openTimers:0]" {
		t.Error(got)
	}
	if info["latestActivityTaskTimestamp"] == nil {
		t.Error("no latestActivityTaskTimestamp")
	}
	for _, operation := range []string{"SignalWorkflowExecution", "RequestCancelWorkflowExecution", "TerminateWorkflowExecution"} {
		params := object{"domain": "d", "workflowId": "x"}
		if operation == "SignalWorkflowExecution" {
			params["signalName"] = "s"
		}
		w.refuses(t, operation, params, "UnknownResourceFault", "Unknown execution, workflowId = x")
		params["runId"] = run
		w.refuses(t, operation, params, "UnknownResourceFault", "Unknown execution: WorkflowExecution=[workflowId=x, runId="+run+"]")
	}
}

// TestTokens answers late, twice, with the token of another kind of task, and with an invalid token.
func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	w.start(t, "x")
	decision := w.decide(t, schedule("a1"))["taskToken"].(string)
	activity := w.poll(t, "a")["taskToken"].(string)
	if len(decision) > 1024 || len(activity) > 1024 {
		t.Errorf("tokens of %d and %d characters", len(decision), len(activity))
	}
	w.refuses(t, "RespondDecisionTaskCompleted", object{"taskToken": decision}, "UnknownResourceFault",
		"Unknown decision task, scheduledEventId = 2")
	w.refuses(t, "RespondDecisionTaskCompleted", object{"taskToken": activity}, "ValidationException", "Invalid token")
	for _, operation := range []string{
		"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled", "RecordActivityTaskHeartbeat",
	} {
		for _, bad := range []string{decision, "x", activity[:len(activity)-1], strings.ToUpper(activity)} {
			w.refuses(t, operation, object{"taskToken": bad}, "ValidationException", "Invalid token")
		}
	}
	w.must(t, "RespondActivityTaskFailed", object{"taskToken": activity})
	for _, operation := range []string{
		"RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled", "RecordActivityTaskHeartbeat",
	} {
		w.refuses(t, operation, object{"taskToken": activity}, "UnknownResourceFault", "Unknown activity, scheduledEventId = 5")
	}
}

// TestDescribeAsRecorded closes an execution while a worker has an activity, as a recording of the service does.
func TestDescribeAsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	id := "name:1:2be8/x"
	of := object{"workflowId": id, "runId": w.start(t, id)}
	describe := func() (info, all object) {
		all = w.must(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": of})
		return all["executionInfo"].(object), all
	}
	w.decide(t, schedule("name:1:d:2be8"))
	activity := w.poll(t, "a")["taskToken"]
	w.must(t, "RequestCancelWorkflowExecution", object{"domain": "d", "workflowId": id})
	if info, _ := describe(); info["cancelRequested"] != true {
		t.Errorf("open, and asked to cancel: %v", info)
	}
	decision := w.decide(t, object{"decisionType": "CancelWorkflowExecution"})
	events := w.must(t, "GetWorkflowExecutionHistory", object{"domain": "d", "execution": of})["events"].([]any)
	info, all := describe()
	configuration := all["executionConfiguration"].(object)
	if first := decision["events"].([]any)[0].(object); info["startTimestamp"] != first["eventTimestamp"] || !reflect.DeepEqual(first, events[0]) {
		t.Errorf("started at %v; the first event is %v and %v", info["startTimestamp"], first, events[0])
	}
	scheduled, started, latest := events[4].(object), events[5].(object), all["latestActivityTaskTimestamp"].(float64)
	if started["eventType"] != "ActivityTaskStarted" || latest < scheduled["eventTimestamp"].(float64) ||
		latest > started["eventTimestamp"].(float64) { // the decider is asked a moment before the event is written
		t.Errorf("the latest activity was at %v, not as in %v", latest, started)
	}
	if _, has := configuration["taskPriority"]; has || info["cancelRequested"] != false || info["closeStatus"] != "CANCELED" ||
		all["openCounts"].(object)["openActivityTasks"] != 1.0 {
		t.Errorf("%v", all)
	}
	gone := fmt.Sprintf("Unknown execution: WorkflowExecution=[workflowId=%s, runId=%s]", id, of["runId"])
	w.refuses(t, "RecordActivityTaskHeartbeat", object{"taskToken": activity}, "UnknownResourceFault", gone)
	w.refuses(t, "RespondDecisionTaskCompleted", object{"taskToken": decision["taskToken"]}, "UnknownResourceFault", gone)
	w.refuses(t, "StartWorkflowExecution", object{"domain": "d", "workflowId": "x:undo", "workflowType": typeOf("t", "1")}, "ValidationException", "")
}

// TestEmptyPoll wants an answer after a minute that has no task. Clients of AWS test for the absence of the token.
func TestEmptyPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{swf.QuotaPollers: 1}})
		w.types(t)
		begun := time.Now()
		var polls sync.WaitGroup
		polls.Go(func() {
			if out := w.poll(t, "l"); !maps.Equal(out, object{"startedEventId": 0.0, "previousStartedEventId": 0.0}) {
				t.Errorf("%v", out)
			}
		})
		polls.Go(func() {
			if out := w.poll(t, "a"); !maps.Equal(out, object{"startedEventId": 0.0}) {
				t.Errorf("%v", out)
			}
		})
		synctest.Wait()
		w.refuses(t, "PollForActivityTask", object{"domain": "d", "taskList": object{"name": "a"}}, "LimitExceededFault", "")
		polls.Wait()
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("the polls took %v", took)
		}
		w.refuses(t, "PollForDecisionTask", object{"domain": "no", "taskList": object{"name": "l"}}, "UnknownResourceFault", "")
	})
}

// TestPages reads the history of a decision task in pages: in both directions, and from the previous start.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	w.start(t, "x")
	w.decide(t)
	for range 4 {
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "s"})
	}
	read := func(first object, more ...any) (ids []int, pages int) {
		t.Helper()
		for task := first; ; task = w.poll(t, "l", append(more, "nextPageToken", task["nextPageToken"])...) {
			if task["taskToken"] != first["taskToken"] || task["startedEventId"] != first["startedEventId"] {
				t.Errorf("%v, then %v", first, task)
			}
			for _, event := range task["events"].([]any) {
				ids = append(ids, int(event.(object)["eventId"].(float64)))
			}
			if pages++; task["nextPageToken"] == nil {
				return ids, pages
			}
		}
	}
	for _, with := range [][]any{
		nil,
		{"reverseOrder", true},
		{"startAtPreviousStartedEvent", true},
		{"startAtPreviousStartedEvent", true, "reverseOrder", true},
	} {
		more := append(slices.Clone(with), "maximumPageSize", 3)
		first := w.poll(t, "l", more...)
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "later"})
		ids, pages := read(first, more...)
		if want := (len(ids) + 2) / 3; pages != want {
			t.Errorf("%v: %d pages, want %d", with, pages, want)
		}
		if slices.IsSorted(ids) == slices.Contains(with, any("reverseOrder")) {
			t.Errorf("%v: %v", with, ids)
		}
		started, previous := int(first["startedEventId"].(float64)), int(first["previousStartedEventId"].(float64))
		least := 1
		if slices.Contains(with, any("startAtPreviousStartedEvent")) {
			least = previous
		}
		if slices.Min(ids) != least || slices.Max(ids) != started || len(ids) != started-least+1 {
			t.Errorf("%v: events %v, want %d to %d", with, ids, least, started)
		}
		w.must(t, "RespondDecisionTaskCompleted", object{"taskToken": first["taskToken"]})
	}
}

// TestRetention wants a closed execution to be gone when its retention period is over, also from the database.
func TestRetention(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	w := newWorld(t, swf.Config{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	w.types(t)
	run := w.start(t, "x")
	w.must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "x"})
	describe := object{"domain": "d", "execution": ofX(run)}
	closed := object{"domain": "d", "closeTimeFilter": object{"oldestDate": 0}}
	w.must(t, "DescribeWorkflowExecution", describe)
	later.Store(int64(25 * time.Hour))
	w.refuses(t, "DescribeWorkflowExecution", describe, "UnknownResourceFault", "")
	w.refuses(t, "GetWorkflowExecutionHistory", describe, "UnknownResourceFault", "")
	if got := w.must(t, "CountClosedWorkflowExecutions", closed)["count"]; got != 0.0 {
		t.Errorf("%v closed executions", got)
	}
	if _, err := w.store.Run(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := w.api.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Run(t.Context(), run); err == nil {
		t.Error("the execution is still in the database")
	}
}

// TestOpenExecutions starts one execution more than the quota allows, by the API and as a child.
func TestOpenExecutions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{swf.QuotaOpenExecutions: 2}})
	w.types(t)
	run := w.start(t, "x")
	w.start(t, "y")
	w.refuses(t, "StartWorkflowExecution", object{"domain": "d", "workflowId": "z", "workflowType": typeOf("t", "1")}, "LimitExceededFault", "")
	w.decide(t, object{
		"decisionType": "StartChildWorkflowExecution",
		"startChildWorkflowExecutionDecisionAttributes": object{"workflowId": "z", "workflowType": typeOf("t", "1")},
	})
	events := w.must(t, "GetWorkflowExecutionHistory", object{"domain": "d", "execution": ofX(run)})["events"].([]any)
	if got := fmt.Sprint(events[4]); !strings.Contains(got, "OPEN_WORKFLOWS_LIMIT_EXCEEDED") {
		t.Error(got)
	}
	w.must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "y"})
	w.start(t, "z")
}

// TestDecisionsAreAuthorized wants OPERATION_NOT_PERMITTED for a decision that the authorizer does not permit.
func TestDecisionsAreAuthorized(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{Authorizer: but("RecordMarker")})
	w.types(t)
	run := w.start(t, "x")
	w.decide(t, object{"decisionType": "RecordMarker", "recordMarkerDecisionAttributes": object{"markerName": "m"}})
	events := w.must(t, "GetWorkflowExecutionHistory", object{"domain": "d", "execution": ofX(run)})["events"].([]any)
	if got := fmt.Sprint(events[4]); !strings.Contains(got, "RecordMarkerFailed") || !strings.Contains(got, "OPERATION_NOT_PERMITTED") {
		t.Error(got)
	}
}

// but permits everything but one operation.
type but string

func (b but) Permits(_, operation, _ string) bool { return operation != string(b) }

// FuzzTokens wants a fault for each token that the server did not make.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"", "x", "AAAA", strings.Repeat("A", 1024), "\x00", "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		w := newWorld(t, swf.Config{})
		w.domain(t, "d")
		for operation, params := range map[string]object{
			"RespondDecisionTaskCompleted": {"taskToken": token}, "RecordActivityTaskHeartbeat": {"taskToken": token},
			"ListDomains":         {"registrationStatus": "REGISTERED", "nextPageToken": token},
			"PollForDecisionTask": {"domain": "d", "taskList": object{"name": "l"}, "nextPageToken": token},
		} {
			if token == "" && params["nextPageToken"] != nil {
				continue // it asks for the first page
			}
			if a := w.call(t, operation, params); a.status != 400 || a.Code != "ValidationException" {
				t.Errorf("%s %q: %d %s %s", operation, token, a.status, a.Code, a.Message)
			}
		}
	})
}
