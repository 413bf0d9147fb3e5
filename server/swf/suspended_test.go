package swf_test

import (
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/swf"
)

// TestSuspended suspends an execution while a worker has its activity. Calls are refused as throttled.
// When it is resumed, the worker completes the activity with the token that it had.
//
// Guarantee (Undo on Amazon SWF): While an operator suspends an execution, calls are refused with
// ThrottlingException, polls give none of its tasks, and timeouts are due when it is resumed.
// Also: (calls).
func TestSuspended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, swf.Config{})
		w.types(t)
		run := w.start(t, "x")
		w.decide(t, schedule("a1"), schedule("a2"))
		token := w.poll(t, "a")["taskToken"]
		command := func(c engine.Command) {
			t.Helper()
			if err := engine.Send(t.Context(), w.store, run, c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		command(engine.Hold())
		completion := object{"taskToken": token, "result": "done"}
		w.refuses(t, "RespondActivityTaskCompleted", completion, "ThrottlingException", "")
		w.refuses(t, "SignalWorkflowExecution", object{"domain": "d", "workflowId": "x", "signalName": "s"}, "ThrottlingException", "")
		described := w.must(t, "DescribeWorkflowExecution", object{"domain": "d", "execution": ofX(run)})
		if status := described["executionInfo"].(object)["executionStatus"]; status != "OPEN" {
			t.Errorf("a suspended execution is %v", status)
		}
		command(engine.Resume())
		w.must(t, "RespondActivityTaskCompleted", completion)
		w.must(t, "RespondActivityTaskCompleted", object{"taskToken": w.poll(t, "a")["taskToken"]})
		w.decide(t, complete)
	})
}
