package sfn_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestUpdateMapRun changes a map run while it runs. The change holds at once, and after the process has been replaced.
//
// Guarantee (G2): A change of a running map run holds at once, and in the next process. A redrive starts each
// unsuccessful item again.
func TestUpdateMapRun(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serveOn(t, store, nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	machine := s.create("Map", `{"StartAt": "Around", "States": {"Around": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Each", "States":
		{"Each": {"Type": "Map", "Label": "Each", "MaxConcurrency": 1, "End": true,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Work", "States": {
			"Work": {"Type": "Task", "Resource": "`+activity+`", "End": true}}}}}}]}}}`)
	arn := s.start(machine, "m", `[1, 2, 3, 4, 5]`)
	first := s.task(activity)
	list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": arn})
	run := list[0]["mapRunArn"].(string)
	s.counts(run, object{"pending": 4.0, "running": 1.0, "total": 5.0})
	for _, path := range []string{"", "Around[0]", "Around[0]/Each[1]", "Around[0]/Each[0]"} { // no flow expects these
		m := storage.Message{Run: "Map:m", Kind: grow.MessageSignal, Path: path, Name: "other", Body: atom.MustEncode(1)}
		if err := store.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s.call("UpdateMapRun", object{"mapRunArn": run, "maxConcurrency": 3, "toleratedFailureCount": 2, "toleratedFailurePercentage": 50.5})
	updated := func() {
		t.Helper()
		if d := s.call("DescribeMapRun", object{"mapRunArn": run}); d["maxConcurrency"] != 3.0 || d["toleratedFailureCount"] != 2.0 ||
			d["toleratedFailurePercentage"] != 50.5 || d["status"] != "RUNNING" {
			t.Errorf("%v", d)
		}
		s.counts(run, object{"pending": 2.0, "running": 3.0, "total": 5.0})
	}
	updated()
	s.stop()
	s = serveOn(t, store, nil)
	updated()
	s.call("UpdateMapRun", object{"mapRunArn": run}) // changes nothing
	updated()
	s.call("SendTaskFailure", object{"taskToken": first, "error": "Bad"})
	s.call("SendTaskFailure", object{"taskToken": s.task(activity), "error": "Bad"})
	s.counts(run, object{"running": 3.0, "failed": 2.0, "total": 5.0})
	items, _ := s.pages("ListExecutions", "executions", object{"mapRunArn": run, "statusFilter": "RUNNING"})
	s.call("StopExecution", object{"executionArn": items[0]["executionArn"], "error": "Enough"})
	if x := s.execution(arn); x["status"] != "FAILED" || x["error"] != "States.ExceedToleratedFailureThreshold" {
		t.Errorf("%v", x)
	}
	s.counts(run, object{"failed": 2.0, "aborted": 3.0, "total": 5.0})
	s.refused("UpdateMapRun", object{"mapRunArn": run, "maxConcurrency": 1}, "ValidationException",
		"Map Run is FAILED and cannot be updated")
	s.refused("UpdateMapRun", object{"mapRunArn": run + "0"}, "ResourceNotFound", "Resource not found: '"+run+"0'")

	s.call("RedriveExecution", object{"executionArn": arn})
	s.counts(run, object{"running": 3.0, "pendingRedrive": 2.0, "total": 5.0})
	s.call("UpdateMapRun", object{"mapRunArn": run, "maxConcurrency": 0})
	s.counts(run, object{"running": 5.0, "total": 5.0})
	for range 5 {
		s.call("SendTaskSuccess", object{"taskToken": s.task(activity), "output": "1"})
	}
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Errorf("%v", x)
	}
	s.counts(run, object{"succeeded": 5.0, "total": 5.0})
}

// task takes a task of an activity.
func (s *served) task(activity string) string {
	s.tb.Helper()
	token, _ := s.call("GetActivityTask", object{"activityArn": activity})["taskToken"].(string)
	if token == "" {
		s.tb.Fatal("there is no task")
	}
	return token
}

// counts waits until a map run has the given counts, of executions and of items; the others are 0.
func (s *served) counts(run string, want object) {
	s.tb.Helper()
	all := object{
		"pending": 0.0, "running": 0.0, "succeeded": 0.0, "failed": 0.0, "timedOut": 0.0, "aborted": 0.0, "total": 0.0,
		"resultsWritten": 0.0, "failuresNotRedrivable": 0.0, "pendingRedrive": 0.0,
	}
	maps.Copy(all, want)
	for end := time.Now().Add(10 * time.Second); ; {
		d := s.call("DescribeMapRun", object{"mapRunArn": run})
		if maps.Equal(d["executionCounts"].(object), all) && maps.Equal(d["itemCounts"].(object), all) {
			return
		}
		if time.Now().After(end) {
			s.tb.Fatalf("%v\nwant %v", d, all)
		}
	}
}
