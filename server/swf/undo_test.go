package swf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	model "github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/swf"
)

var fails = object{"decisionType": "FailWorkflowExecution", "failWorkflowExecutionDecisionAttributes": object{"reason": "no"}}

// undoTypes says that the type u undoes the type t.
func undoTypes(t *testing.T) []model.UndoType {
	t.Helper()
	undo, err := swf.ParseUndo("# what undoes t\n\nt/1 = u/1\n")
	if err != nil {
		t.Fatal(err)
	}
	return undo
}

func undoWorld(t *testing.T) *world {
	t.Helper()
	return undoWorldOn(t, nil)
}

// undoWorldOn has a type t that the type u undoes, in a store; nil is a new one.
func undoWorldOn(t *testing.T, store backend.Store) *world {
	t.Helper()
	w := newWorld(t, swf.Config{Store: store, Undo: undoTypes(t)})
	w.types(t)
	w.must(t, "RegisterActivityType", object{
		"domain": "d", "name": "u", "version": "1", "defaultTaskList": object{"name": "a"}, "defaultTaskHeartbeatTimeout": "NONE",
		"defaultTaskStartToCloseTimeout": "50", "defaultTaskScheduleToStartTimeout": "NONE", "defaultTaskScheduleToCloseTimeout": "NONE",
	})
	return w
}

// work does the next activity.
func (w *world) work(t *testing.T, result string) object {
	t.Helper()
	task := w.poll(t, "a")
	w.must(t, "RespondActivityTaskCompleted", object{"taskToken": task["taskToken"], "result": result})
	return task
}

// TestUndo undoes an execution that fails, by an execution that clients see like any other.
//
// Guarantee (Undo on Amazon SWF): The input of an undo is `{"input": …, "result": …, "outcome": "done"}`; input and
// result are strings or null, as the activity had them.
//
// Guarantee (Undo on Amazon SWF): The execution that undoes is in lists, counts, descriptions and histories, with
// type and tags of the one that it undoes. Several may have one workflowId at once; a call without a runId means the
// last one.
func TestUndo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		run := w.start(t, "x", "tagList", []string{"red"})
		w.decide(t, schedule("first"), schedule("second"))
		w.work(t, "one")
		w.work(t, "two")
		w.decide(t, fails)
		task := w.poll(t, "a")
		undo := task["workflowExecution"].(object)
		if task["input"] != `{"input":"in","result":"two","outcome":"done"}` || task["activityId"] != "second#6" || undo["workflowId"] != "x:undo" {
			t.Errorf("the first activity that undoes is %v", task)
		}
		open := w.must(t, "ListOpenWorkflowExecutions", object{
			"domain": "d", "startTimeFilter": object{"oldestDate": 0}, "executionFilter": object{"workflowId": "x:undo"},
		})["executionInfos"].([]any)
		if len(open) != 1 || fmt.Sprint(open[0].(object)["parent"]) != fmt.Sprint(ofX(run)) {
			t.Errorf("the list has %v", open)
		}
		described := w.must(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": undo})
		if counts := described["openCounts"].(object); counts["openActivityTasks"] != 1.0 {
			t.Errorf("described as %v", described)
		}
		w.refuses(t, "StartWorkflowExecution", object{"domain": "d", "workflowId": "x:undo", "workflowType": typeOf("t", "1")},
			"ValidationException", "")
		w.must(t, "RespondActivityTaskFailed", object{"taskToken": task["taskToken"], "reason": "broken"})
		stuck := func() bool {
			synctest.Wait()
			stored, err := w.store.Run(t.Context(), undo["runId"].(string))
			if err != nil {
				t.Fatal(err)
			}
			return stored.NeedsPerson()
		}
		if !stuck() {
			t.Error("no person is needed")
		}
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x:undo", "signalName": model.SignalRetry})
		if again := w.work(t, ""); again["activityId"] != "second#6" || stuck() {
			t.Errorf("the person's decision leads to %v", again)
		}
		if last := w.work(t, ""); last["input"] != `{"input":"in","result":"one","outcome":"done"}` {
			t.Errorf("the last activity that undoes is %v", last)
		}
		synctest.Wait()
		for _, of := range []object{undo, ofX(run)} {
			events := w.must(t, "GetWorkflowExecutionHistory", object{"domain": "d", "execution": of, "reverseOrder": true})["events"].([]any)
			want := "WorkflowExecutionCompleted"
			if of["workflowId"] == "x" {
				want = "WorkflowExecutionFailed"
			}
			if got := events[0].(object)["eventType"]; got != want {
				t.Errorf("the last event of %v is %s, want %s", of, got, want)
			}
		}
		w.refuses(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x:undo", "signalName": "s"}, "UnknownResourceFault", "")
	})
}

// TestUndoOfStopped undoes an execution that an operator ends, and one whose time is over while the server does not run.
//
// Guarantee (Undo on Amazon SWF): If an operator ends an execution (`ebb cancel`), it is undone.
func TestUndoOfStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		run := w.start(t, "x")
		w.decide(t, schedule("first"))
		w.work(t, "one")
		if err := engine.Send(t.Context(), w.store, run, engine.Cancel("enough")); err != nil {
			t.Fatal(err)
		}
		if task := w.work(t, ""); task["activityType"].(object)["name"] != "u" {
			t.Errorf("after the end came %v", task)
		}
	})
}

// TestUndoIsRetained keeps the history of an execution while it is being undone, for any retention period.
//
// Guarantee (Undo on Amazon SWF): An execution stays in the database until it is undone, whatever `ebb prune` or
// `--keep` say, but clients do not see it.
// Also: `cmd/ebb/internal/retention: TestOutdated`.
func TestUndoIsRetained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		run := w.start(t, "x")
		w.decide(t, schedule("first"))
		w.work(t, "one")
		w.decide(t, fails)
		task := w.poll(t, "a")
		time.Sleep(48 * time.Hour) // the activity times out
		sweep := func() (kept bool) {
			t.Helper()
			if err := w.api.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err := w.store.Run(t.Context(), run)
			return err == nil
		}
		if !sweep() {
			t.Error("the history was deleted that the undo reads")
		}
		w.refuses(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": ofX(run)}, "UnknownResourceFault", "")
		w.refuses(t, "RespondActivityTaskCompleted", object{"taskToken": task["taskToken"]}, "UnknownResourceFault", "")
		w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x:undo", "signalName": model.SignalRetry})
		if again := w.work(t, ""); again["input"] != `{"input":"in","result":"one","outcome":"done"}` {
			t.Errorf("the activity that undoes is %v", again)
		}
		synctest.Wait()
		if sweep() {
			t.Error("the history stays for ever")
		}
	})
}

// TestUndoLongAgo undoes more activities than one page of the history has.
func TestUndoLongAgo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := undoWorld(t)
		w.start(t, "x")
		w.decide(t, schedule("first"))
		w.work(t, "one")
		for i := range 150 {
			w.must(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": fmt.Sprint(i)})
		}
		w.decide(t, fails)
		if task := w.work(t, ""); task["activityId"] != "first#5" {
			t.Errorf("got %v", task)
		}
	})
}

// TestParseUndo reads settings, and names the lines that cannot be read.
func TestParseUndo(t *testing.T) {
	t.Parallel()
	got, err := swf.ParseUndo("  # x\r\n\r\ncharge card/1.0 = refund=card/2\r\na/1 = b/1")
	want := []model.UndoType{
		{Type: model.Type{Name: "charge card", Version: "1.0"}, By: model.Type{Name: "refund=card", Version: "2"}},
		{Type: model.Type{Name: "a", Version: "1"}, By: model.Type{Name: "b", Version: "1"}},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"a/1":                                 "line 1: ",
		"\na/1 = b":                           `line 2: "b" is no activity type`,
		"a/1 = b/1 = c/1":                     "line 1: ",
		"a/1=b/1":                             "line 1: ",
		"a:b/1 = b/1":                         `"a:b/1" is no activity type`,
		"/1 = b/1":                            "no activity type",
		"a/1 = b/2/3":                         "no activity type",
		"a/1 = b/1\na/1 = c/1":                "line 2: a line before says what undoes a/1",
		strings.Repeat("x", 257) + "/1 = b/1": "no activity type",
	} {
		if _, err := swf.ParseUndo(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
