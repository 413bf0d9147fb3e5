package sfn_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/storage/memstore"
)

// distributed is a machine with a distributed Map whose items fail if they are 0.
func distributed(fields string) string {
	return `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "Label": "Each", ` + fields + ` "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Zero", "States": {
			"Zero": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 0, "Next": "Bad"}], "Default": "Good"},
			"Good": {"Type": "Pass", "End": true}, "Bad": {"Type": "Fail", "Error": "Zero"}}}, "End": true}}}`
}

// TestMapRuns describes map runs, and the executions of their items.
func TestMapRuns(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Map", distributed(`"ToleratedFailureCount": 2, "MaxConcurrency": 3,`))
	arn := s.start(machine, "m", `[1, 0, 2, 0, 3]`)
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Fatalf("%v", x)
	}
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	if len(list) != 1 || list[0]["executionArn"] != arn || list[0]["stateMachineArn"] != machine+"/Each" || list[0]["stopDate"] == nil {
		t.Fatalf("%v", list)
	}
	run := list[0]["mapRunArn"].(string)
	if !strings.HasPrefix(run, arns+"mapRun:Map/Each:") {
		t.Errorf("%s", run)
	}
	d := s.call("DescribeMapRun", object{"mapRunArn": run})
	if d["status"] != "SUCCEEDED" || d["maxConcurrency"] != 3.0 || d["toleratedFailureCount"] != 2.0 || d["executionArn"] != arn {
		t.Errorf("%v", d)
	}
	for _, of := range []string{"itemCounts", "executionCounts"} {
		counts := d[of].(object)
		for name, want := range map[string]float64{"total": 5, "succeeded": 3, "failed": 2, "running": 0, "aborted": 0, "timedOut": 0, "pending": 0} {
			if counts[name] != want {
				t.Errorf("%s: %s is %v; want %v", of, name, counts[name], want)
			}
		}
	}
	items, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run, "maxResults": 2})
	if len(items) != 5 || items[0]["mapRunArn"] != run || items[0]["itemCount"] != 1.0 || items[0]["stateMachineArn"] != machine+"/Each" {
		t.Errorf("%v", items)
	}
	if failed, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run, "statusFilter": "FAILED"}); len(failed) != 2 {
		t.Errorf("%v", failed)
	}
	item := s.call("DescribeExecution", object{"executionArn": items[0]["executionArn"]})
	if item["mapRunArn"] != run || item["stateMachineArn"] != machine+"/Each" {
		t.Errorf("%v", item)
	}
	of := s.call("DescribeStateMachineForExecution", object{"executionArn": items[0]["executionArn"]})
	if of["label"] != "Each" || of["mapRunArn"] != run || of["name"] != "Map/Each" {
		t.Errorf("%v", of)
	}
	if events, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": items[0]["executionArn"]}); len(events) < 5 {
		t.Errorf("%v", events)
	}
	if list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": machine}); len(list) != 1 {
		t.Errorf("the machine has the executions %v", list)
	}
	for _, wrong := range []string{run + "x", arns + "mapRun:Map/Other:" + run[strings.LastIndexByte(run, ':')+1:] + "0"} {
		s.refused("DescribeMapRun", object{"mapRunArn": wrong}, "ResourceNotFound", "Resource not found: '"+wrong+"'")
	}
}

// TestMapRunCounts counts the executions of a failed map run as they are listed: of those that fail at one moment, one
// fails the map run before it knows of the others.
func TestMapRunCounts(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	arn := s.start(s.create("Map", distributed("")), "m", `[1, 0, 0, 0, 0, 0, 2]`)
	s.execution(arn)
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	run := list[0]["mapRunArn"].(string)
	for end := time.Now().Add(time.Minute); ; {
		listed := object{"total": 7.0}
		items, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run})
		for _, item := range items {
			name := strings.ToLower(item["status"].(string))
			n, _ := listed[name].(float64)
			listed[name] = n + 1
		}
		if listed["running"] == nil || time.Now().After(end) { // the others are aborted
			s.counts(run, listed)
			return
		}
	}
}

// TestNestedExecution starts an execution from another one: it keeps the definition that its machine has then.
func TestNestedExecution(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	inner := s.create("Inner", passing)
	outer := s.create("Outer", `{"StartAt": "Start", "States": {"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",
		"Parameters": {"StateMachineArn": "`+inner+`", "Input": {"by": "outer"}}, "OutputPath": "$.ExecutionArn", "End": true}}}`)
	x := s.execution(s.start(outer, "o", `{}`))
	if x["status"] != "SUCCEEDED" {
		t.Fatalf("%v", x)
	}
	nested := strings.Trim(x["output"].(string), `"`)
	if x := s.execution(nested); x["status"] != "SUCCEEDED" || x["stateMachineArn"] != inner || x["input"] != `{"by":"outer"}` {
		t.Errorf("%v", x)
	}
	if list, _ := s.pages("ListExecutions", "executions", object{"stateMachineArn": inner}); len(list) != 1 || list[0]["executionArn"] != nested {
		t.Errorf("%v", list)
	}
	missing := s.create("Missing", `{"StartAt": "Start", "States": {"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution",
		"Parameters": {"StateMachineArn": "`+inner+`x"}, "End": true}}}`)
	if x := s.execution(s.start(missing, "o", `{}`)); x["status"] != "FAILED" ||
		x["error"] != "StepFunctions.StateMachineDoesNotExistException" {
		t.Errorf("%v", x)
	}
}

// TestExpressMapRun describes the executions of items that are Express. Their histories are not kept, as on AWS.
func TestExpressMapRun(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine := s.create("Map", strings.Replace(distributed(`"ToleratedFailureCount": 1,`), `"STANDARD"`, `"EXPRESS"`, 1))
	arn := s.start(machine, "m", `[1, 0]`)
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Fatalf("%v", x)
	}
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	run := list[0]["mapRunArn"]
	items, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run})
	if len(items) != 2 {
		t.Fatalf("%v", items)
	}
	for _, item := range items {
		of := item["executionArn"].(string)
		x := s.call("DescribeExecution", object{"executionArn": of})
		if !strings.HasPrefix(of, arns+"express:Map/Each:") || x["mapRunArn"] != run || x["redriveCount"] != nil {
			t.Errorf("%v", x)
		}
		s.refused("GetExecutionHistory", object{"executionArn": of}, "InvalidArn", "Invalid Arn: 'Resource type not valid in this context: express'")
	}
	counts := s.call("DescribeMapRun", object{"mapRunArn": run})["executionCounts"].(object)
	if counts["succeeded"] != 1.0 || counts["failed"] != 1.0 || counts["total"] != 2.0 {
		t.Errorf("%v", counts)
	}
}

// TestMapRunEndsEarly keeps items that were not started as pending, after a failure and after the execution was stopped.
func TestMapRunEndsEarly(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	machine := s.create("Map", `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "MaxConcurrency": 1, "End": true,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Work", "States": {
			"Work": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}}}}`)
	for name, want := range map[string]object{"failed": {"failed": 1.0}, "aborted": {"aborted": 1.0}} {
		arn := s.start(machine, name, `[1, 2, 3]`)
		token := s.task(activity)
		if name == "failed" {
			s.call("SendTaskFailure", object{"taskToken": token})
		} else {
			s.call("StopExecution", object{"executionArn": arn})
		}
		s.execution(arn)
		list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
		want["pending"], want["total"] = 2.0, 3.0
		s.counts(list[0]["mapRunArn"].(string), want)
	}
	s.refused("ListExecutions", object{}, "ValidationException", "Must provide a StateMachine ARN or MapRun ARN")
}
