package swf_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
)

func startTimer(id string) object {
	return object{
		"decisionType":                 "StartTimer",
		"startTimerDecisionAttributes": object{"timerId": id, "startToFireTimeout": "60"},
	}
}

// TestPollersLeave connects 2,000 pollers, which all disconnect: none of them still waits then, and none takes the task
// that comes next.
func TestPollersLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, swf.Config{Quotas: map[aws.Quota]int64{swf.QuotaPollers: 1000}})
		w.types(t)
		began := time.Now()
		for range 3 {
			ctx, disconnect := context.WithCancel(t.Context())
			var waiting sync.WaitGroup
			poll := func(operation string) {
				waiting.Go(func() {
					r := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(`{"domain":"d","taskList":{"name":"l"}}`))
					r.Header.Set("Content-Type", "application/x-amz-json-1.0")
					r.Header.Set("X-Amz-Target", "SimpleWorkflowService."+operation)
					w.handler.ServeHTTP(httptest.NewRecorder(), r)
				})
			}
			for range 1000 {
				poll("PollForDecisionTask")
				poll("PollForActivityTask")
			}
			synctest.Wait()
			w.refuses(t, "PollForDecisionTask", object{"domain": "d", "taskList": object{"name": "l"}}, "LimitExceededFault", "")
			disconnect()
			waiting.Wait()
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("they left after %v", took)
		}
		w.start(t, "x")
		w.decide(t, complete)
	})
}

// TestNameWithNUL lists the types of a name that no database can keep. There are none.
func TestNameWithNUL(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	for _, operation := range []string{"ListWorkflowTypes", "ListActivityTypes"} {
		got := w.must(t, operation, object{"domain": "d", "name": "\x00", "registrationStatus": "REGISTERED"})
		if list := got["typeInfos"]; len(list.([]any)) != 0 {
			t.Errorf("%s: %v", operation, got)
		}
	}
}

// TestLargeBatch answers with a thousand decisions. One that is not valid makes the whole batch invalid, and one timer
// more than the quota fails alone.
func TestLargeBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, swf.Config{})
	w.types(t)
	run := w.start(t, "x")
	timers := make([]object, 1000)
	for i := range timers {
		timers[i] = startTimer(fmt.Sprint(i))
	}
	token := w.must(t, "PollForDecisionTask", object{"domain": "d", "taskList": object{"name": "l"}})["taskToken"]
	answer := func(decisions ...object) object { return object{"taskToken": token, "decisions": decisions} }
	w.refuses(t, "RespondDecisionTaskCompleted", answer(append(timers[:999:999], startTimer(""))...), "ValidationException", "")
	w.refuses(t, "RespondDecisionTaskCompleted", answer(append([]object{complete}, timers...)...), "ValidationException", "")
	w.must(t, "RespondDecisionTaskCompleted", answer(append(timers[:1000:1000], startTimer("one more"))...))
	counts := w.must(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": ofX(run)})["openCounts"].(object)
	if counts["openTimers"] != 1000.0 {
		t.Errorf("open counts: %v", counts)
	}
	last := w.must(t, "GetWorkflowExecutionHistory", object{
		"domain": "d", "execution": ofX(run), "reverseOrder": true,
		"maximumPageSize": 2,
	})["events"].([]any)[1].(object) // before the DecisionTaskScheduled that follows
	if last["eventType"] != "StartTimerFailed" || last["eventId"] != 1005.0 {
		t.Errorf("the last event is %v", last)
	}
}

// TestUnaskedAnswers lets a decider answer what was not asked. Decisions about missing objects become events, and the
// task of another execution does not end.
func TestUnaskedAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testUnaskedAnswers)
}

func testUnaskedAnswers(t *testing.T) {
	w := newWorld(t, swf.Config{})
	w.types(t)
	run := w.start(t, "x")
	other := w.start(t, "y")
	w.decide(t, // x
		object{"decisionType": "CancelTimer", "cancelTimerDecisionAttributes": object{"timerId": "none"}},
		object{"decisionType": "RequestCancelActivityTask", "requestCancelActivityTaskDecisionAttributes": object{"activityId": "none"}},
		object{"decisionType": "SignalExternalWorkflowExecution", "signalExternalWorkflowExecutionDecisionAttributes": object{"workflowId": "nobody", "signalName": "s"}},
	)
	synctest.Wait() // the signal comes back
	token := w.must(t, "PollForDecisionTask", object{"domain": "d", "taskList": object{"name": "l"}})["taskToken"].(string)
	unasked := object{"taskToken": token, "decisions": []object{}, "events": []object{{"eventType": "TimerFired"}}, "workflowId": "y"}
	w.must(t, "RespondDecisionTaskCompleted", unasked) // unknown members do nothing
	w.refuses(t, "RespondDecisionTaskCompleted", unasked, "UnknownResourceFault", "")
	kinds := func(workflow, run string) string {
		var all []string
		for _, e := range w.must(t, "GetWorkflowExecutionHistory",
			object{"domain": "d", "execution": object{"workflowId": workflow, "runId": run}})["events"].([]any) {
			all = append(all, e.(object)["eventType"].(string))
		}
		return strings.Join(all, " ")
	}
	for _, want := range []string{"CancelTimerFailed", "RequestCancelActivityTaskFailed", "SignalExternalWorkflowExecutionFailed"} {
		if got := kinds("x", run); strings.Count(got, want) != 1 || strings.Contains(got, "TimerFired") {
			t.Errorf("want one %s: %s", want, got)
		}
	}
	if got := kinds("y", other); got != "WorkflowExecutionStarted DecisionTaskScheduled DecisionTaskStarted DecisionTaskCompleted" {
		t.Errorf("the other execution has the events %s", got)
	}
}

// FuzzFilters lists and counts executions with any filter: it is refused, or it is served.
func FuzzFilters(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"startTimeFilter":{"oldestDate":0}}`, `{"startTimeFilter":{"oldestDate":1e30,"latestDate":-1e30}}`,
		`{"startTimeFilter":{"oldestDate":0},"tagFilter":{"tag":""}}`, `{"closeTimeFilter":{"oldestDate":1.5}}`,
		`{"startTimeFilter":{"oldestDate":0},"executionFilter":{"workflowId":"x"},"typeFilter":{"name":"t","version":"1"}}`,
		`{"closeTimeFilter":{"oldestDate":0},"closeStatusFilter":{"status":"COMPLETED"}}`, `{"maximumPageSize":-1}`,
		`{"startTimeFilter":{"oldestDate":0},"reverseOrder":true,"maximumPageSize":0,"nextPageToken":"x"}`, `{"typeFilter":null}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		var params object
		if json.Unmarshal([]byte(filter), &params) != nil || params == nil {
			return
		}
		w := newWorld(t, swf.Config{})
		w.types(t)
		w.start(t, "x")
		params["domain"] = "d"
		for _, operation := range []string{
			"ListOpenWorkflowExecutions", "ListClosedWorkflowExecutions", "CountOpenWorkflowExecutions",
			"CountClosedWorkflowExecutions",
		} {
			a := w.call(t, operation, params)
			if a.status != 200 && (a.status != 400 || a.Code != "ValidationException" && a.Code != "SerializationException") {
				t.Errorf("%s %s: %d %s %s", operation, filter, a.status, a.Code, a.Message)
			}
		}
	})
}
