package swf_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestUndoOfFamily terminates an execution that was continued as new and has children, on two servers that answer in
// turn. Each execution undoes what it did itself: the terminated one, and its child that the policy terminates. The
// work of the earlier run, and of a child that completed, stays.
//
// Guarantee (Undo on Amazon SWF): Child executions undo their own activities if the child policy terminates them. For
// one that completed, the decider of the parent compensates.
// Also: (with two servers, also on PostgreSQL).
func TestUndoOfFamily(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		records := memstore.New()
		testUndoOfFamily(t, records, records.Join())
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		var stores [2]backend.Store
		for i := range stores {
			s, err := sqlstore.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			stores[i] = s
		}
		testUndoOfFamily(t, stores[0], stores[1])
	})
}

func testUndoOfFamily(t *testing.T, stores ...backend.Store) {
	t.Helper()
	f := &family{servers: []*world{undoWorldOn(t, stores[0])}, done: map[string]bool{}}
	f.servers = append(f.servers, newWorld(t, swf.Config{Store: stores[1], Undo: undoTypes(t)}))
	f.servers[0].start(t, "x")
	f.until(t, func() bool {
		return f.done["second"] && f.done["in done"] && f.done["in open"] && f.closed(t, "done") == 1
	})
	f.next().must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "x"})
	f.until(t, func() bool { return f.closed(t, "x:undo")+f.closed(t, "open:undo") == 2 })
	var undone []string
	for id := range maps.Keys(f.done) {
		if name, _, is := strings.Cut(id, "#"); is {
			undone = append(undone, name)
		}
	}
	slices.Sort(undone)
	if got := fmt.Sprint(undone); got != "[in open second]" {
		t.Errorf("undone are %s", got)
	}
	count := f.next().must(t, "CountOpenWorkflowExecutions", object{"domain": "d", "startTimeFilter": object{"oldestDate": 0}})
	if count["count"] != 0.0 {
		t.Errorf("open are %v", count)
	}
}

// A family is an execution with its decider and its worker, at several servers.
type family struct {
	servers []*world
	calls   int
	done    map[string]bool // ids of activities that completed
}

// next returns the server that answers next.
func (f *family) next() *world {
	f.calls++
	return f.servers[f.calls%len(f.servers)]
}

// until decides and works until nothing is pending and a condition holds.
func (f *family) until(t *testing.T, ready func() bool) {
	t.Helper()
	for idle, end := false, time.Now().Add(time.Minute); !idle || !ready(); {
		if time.Now().After(end) {
			t.Fatalf("after a minute, only %v are done", f.done)
		}
		idle = true
		of := object{"domain": "d", "taskList": object{"name": "l"}}
		if f.next().must(t, "CountPendingDecisionTasks", of)["count"] != 0.0 {
			idle = false
			task := f.next().poll(t, "l")
			f.next().must(t, "RespondDecisionTaskCompleted", object{"taskToken": task["taskToken"], "decisions": decideFamily(task)})
		}
		of["taskList"] = object{"name": "a"}
		if f.next().must(t, "CountPendingActivityTasks", of)["count"] != 0.0 {
			idle = false
			task := f.next().poll(t, "a")
			f.next().must(t, "RespondActivityTaskCompleted", object{"taskToken": task["taskToken"]})
			f.done[task["activityId"].(string)] = true
		}
	}
}

// closed returns how many closed executions have a workflowId.
func (f *family) closed(t *testing.T, id string) int {
	t.Helper()
	return int(f.next().must(t, "CountClosedWorkflowExecutions", object{
		"domain": "d", "startTimeFilter": object{"oldestDate": 0}, "executionFilter": object{"workflowId": id},
	})["count"].(float64))
}

// decideFamily lets x do an activity and continue as new. Then it does another one, and starts the children done, which
// completes, and open. Each child does an activity.
func decideFamily(task object) []object {
	id := task["workflowExecution"].(object)["workflowId"].(string)
	events := task["events"].([]any)
	first := events[0].(object)["workflowExecutionStartedEventAttributes"].(object)
	begins := task["previousStartedEventId"] == 0.0
	completed := slices.ContainsFunc(events, func(e any) bool { return e.(object)["eventType"] == "ActivityTaskCompleted" })
	switch continued := first["continuedExecutionRunId"] != nil; {
	case begins && id != "x":
		return []object{schedule("in " + id)}
	case begins && continued:
		return []object{schedule("second"), startChild("done"), startChild("open")}
	case begins:
		return []object{schedule("first")}
	case completed && id == "done":
		return []object{complete}
	case completed && id == "x" && !continued:
		return []object{{
			"decisionType": "ContinueAsNewWorkflowExecution", "continueAsNewWorkflowExecutionDecisionAttributes": object{},
		}}
	}
	return nil
}

func startChild(id string) object {
	return object{
		"decisionType": "StartChildWorkflowExecution",
		"startChildWorkflowExecutionDecisionAttributes": object{"workflowId": id, "workflowType": typeOf("t", "1")},
	}
}
