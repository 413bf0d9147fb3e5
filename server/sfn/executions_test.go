package sfn_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/storage/memstore"
)

const (
	passing = `{"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "Result": {"done": true}, "End": true}}}`
	waiting = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": true}}}`
	failing = `{"StartAt": "Fail", "States": {"Fail": {"Type": "Fail", "Error": "Bad", "Cause": "it is"}}}`
	arns    = "arn:aws:states:us-east-1:000000000000:"
)

// TestExecution starts, describes and lists executions, and reads their histories.
func TestExecution(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Trip", passing)
	arn := s.start(machine, "monday", `{"day": 1}`)
	if want := arns + "execution:Trip:monday"; arn != want {
		t.Errorf("the execution is %s; want %s", arn, want)
	}
	x := s.execution(arn)
	for name, want := range map[string]any{
		"executionArn": arn, "stateMachineArn": machine, "name": "monday", "status": "SUCCEEDED", "input": `{"day": 1}`,
		"output": `{"done":true}`, "redriveCount": 0.0, "redriveStatus": "NOT_REDRIVABLE",
		"redriveStatusReason": "Execution is SUCCEEDED and cannot be redriven",
	} {
		if x[name] != want {
			t.Errorf("%s is %v; want %v", name, x[name], want)
		}
	}
	s.refused("StartExecution", object{"stateMachineArn": machine, "name": "monday", "input": `{"day": 1}`}, "ExecutionAlreadyExists",
		"Execution Already Exists: '"+arn+"'")
	s.refused("StartExecution", object{"stateMachineArn": machine, "name": "a b"}, "InvalidName", "Invalid Name: 'a b'")
	s.refused("StartExecution", object{"stateMachineArn": machine, "name": "a\u200bb"}, "InvalidName", "Invalid Name: 'a\u200bb'")
	s.refused("StartExecution", object{"stateMachineArn": arns + "stateMachine:None"}, "StateMachineDoesNotExist",
		"State Machine Does Not Exist: '"+arns+"stateMachine:None'")
	s.refused("DescribeExecution", object{"executionArn": arn + "x"}, "ExecutionDoesNotExist", "Execution Does Not Exist: '"+arn+"x'")

	failed := s.execution(s.start(s.create("Fails", failing), "tuesday", `[]`))
	if failed["status"] != "FAILED" || failed["error"] != "Bad" || failed["cause"] != "it is" || failed["redriveStatus"] != "REDRIVABLE" {
		t.Errorf("%v", failed)
	}
	if list := s.call("ListExecutions", object{"stateMachineArn": machine})["executions"].([]any); len(list) != 1 ||
		list[0].(object)["executionArn"] != arn || list[0].(object)["status"] != "SUCCEEDED" {
		t.Errorf("%v", list)
	}
	long := strings.Repeat("\u540d", 80)
	if x := s.execution(s.start(machine, long, `{}`)); x["name"] != long || x["status"] != "SUCCEEDED" {
		t.Errorf("%v", x)
	}
}

// TestStopExecution stops executions, and repeats the requests that started them.
func TestStopExecution(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Waits", waiting)
	for _, c := range []struct{ error, cause any }{{nil, nil}, {"E", "C"}, {nil, "C"}} {
		params := object{"stateMachineArn": machine, "input": `{"a": 1}`}
		first := s.call("StartExecution", params)
		arn := first["executionArn"].(string)
		params["name"] = arn[strings.LastIndexByte(arn, ':')+1:]
		if again := s.call("StartExecution", params); again["executionArn"] != arn || again["startDate"] != first["startDate"] {
			t.Errorf("%v, then %v", first, again)
		}
		params["input"] = `{"a": 2}`
		s.refused("StartExecution", params, "ExecutionAlreadyExists", "Execution Already Exists: '"+arn+"'")
		stopped := s.call("StopExecution", object{"executionArn": arn, "error": c.error, "cause": c.cause})
		x := s.call("DescribeExecution", object{"executionArn": arn})
		if x["status"] != "ABORTED" || x["error"] != c.error || x["cause"] != c.cause || x["stopDate"] != stopped["stopDate"] ||
			x["startDate"] != first["startDate"] {
			t.Errorf("%v, stopped %v", x, stopped)
		}
		if again := s.call("StopExecution", object{"executionArn": arn}); again["stopDate"] != stopped["stopDate"] {
			t.Errorf("stopped again: %v", again)
		}
	}
}

// TestActivityTask lets a worker do tasks.
func TestActivityTask(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "pack"})["activityArn"].(string)
	machine := s.create("Packs", `{"StartAt": "Pack", "States": {"Pack": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}`)
	work := func(name any) (execution, token string) {
		execution = s.start(machine, name.(string), `{"n": "`+name.(string)+`"}`)
		task := s.call("GetActivityTask", object{"activityArn": activity, "workerName": name})
		if task["input"] != `{"n":"`+name.(string)+`"}` && task["input"] != `{"n": "`+name.(string)+`"}` {
			t.Errorf("%v", task)
		}
		return execution, task["taskToken"].(string)
	}
	x, token := work("good")
	s.call("SendTaskHeartbeat", object{"taskToken": token})
	s.refused("SendTaskSuccess", object{"taskToken": token, "output": "{"}, "InvalidOutput",
		"Invalid Output: 'Unexpected end-of-input: expected close marker for Object (start marker at [Source: (String)\"{\"; "+
			"line: 1, column: 1])\n at [Source: (String)\"{\"; line: 1, column: 2]'")
	s.call("SendTaskSuccess", object{"taskToken": token, "output": `{"ok":true}`})
	if x := s.execution(x); x["status"] != "SUCCEEDED" || x["output"] != `{"ok":true}` {
		t.Errorf("%v", x)
	}
	for _, op := range []string{"SendTaskSuccess", "SendTaskFailure", "SendTaskHeartbeat"} {
		s.refused(op, object{"taskToken": token, "output": "1"}, "TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'")
		s.refused(op, object{"taskToken": "no token", "output": "1"}, "InvalidToken", "Invalid Token: 'Invalid token'")
		s.refused(op, object{"taskToken": strings.Repeat("A", 26), "output": "1"}, "TaskDoesNotExist",
			"Task Does Not Exist: 'Provided task does not exist'")
	}
	x, token = work("bad")
	s.call("SendTaskFailure", object{"taskToken": token, "error": "E", "cause": "C"})
	if x := s.execution(x); x["status"] != "FAILED" || x["error"] != "E" || x["cause"] != "C" {
		t.Errorf("%v", x)
	}
	x, token = work("bare")
	s.call("SendTaskFailure", object{"taskToken": token})
	if x := s.execution(x); x["status"] != "FAILED" || x["error"] != nil || x["cause"] != nil {
		t.Errorf("%v", x)
	}
}

// A gone client has disconnected: it cannot be written to.
type gone struct{ http.ResponseWriter }

func (gone) Write([]byte) (int, error) { return 0, net.ErrClosed }

// TestActivityTaskNotReceived gives a task whose client has disconnected to the next client.
func TestActivityTaskNotReceived(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "pack"})["activityArn"].(string)
	machine := s.create("Packs", `{"StartAt": "Pack", "States": {"Pack": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}`)
	arn := s.start(machine, "x", `{}`)
	began := time.Now()
	for range 3 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"activityArn": "`+activity+`"}`))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions.GetActivityTask")
		s.api.ServeHTTP(gone{httptest.NewRecorder()}, r)
	}
	task := s.call("GetActivityTask", object{"activityArn": activity})
	if took := time.Since(began); task["taskToken"] == nil || took > 8*time.Second {
		t.Fatalf("%v after %v", task, took)
	}
	s.call("SendTaskSuccess", object{"taskToken": task["taskToken"], "output": "1"})
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Errorf("%v", x)
	}
	events, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": arn})
	if len(events) != 7 { // the execution, the state, and scheduled, started, succeeded
		t.Errorf("%v", events)
	}
}
