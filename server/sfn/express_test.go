package sfn_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestExpress starts executions of an Express machine, and is refused what AWS refuses.
func TestExpress(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	machine, standard := s.create("Quick", passing, "type", "EXPRESS"), s.create("Slow", passing)
	first := s.call("StartExecution", object{"stateMachineArn": machine, "name": "same"})["executionArn"].(string)
	second := s.call("StartExecution", object{"stateMachineArn": machine, "name": "same"})["executionArn"].(string)
	if first == second || !strings.HasPrefix(first, arns+"express:Quick:same:") {
		t.Errorf("the executions are %s and %s", first, second)
	}
	const context = "Invalid Arn: 'Resource type not valid in this context: express'"
	for _, op := range []string{"DescribeExecution", "GetExecutionHistory", "StopExecution", "DescribeStateMachineForExecution", "ListMapRuns"} {
		s.refused(op, object{"executionArn": first}, "InvalidArn", context)
	}
	const unsupported = "This operation is not supported by this type of state machine"
	s.refused("ListExecutions", object{"stateMachineArn": machine}, "StateMachineTypeNotSupported", unsupported)
	s.refused("StartSyncExecution", object{"stateMachineArn": standard}, "StateMachineTypeNotSupported", unsupported)

	x := s.call("StartSyncExecution", object{"stateMachineArn": machine, "name": "now", "input": `{"a":1}`, "traceHeader": "Root=1"})
	for name, want := range map[string]any{
		"status": "SUCCEEDED", "name": "now", "stateMachineArn": machine, "input": `{"a":1}`, "output": `{"done":true}`, "traceHeader": "Root=1",
	} {
		if x[name] != want {
			t.Errorf("%s is %v; want %v", name, x[name], want)
		}
	}
	if bill := x["billingDetails"].(object); bill["billedMemoryUsedInMB"] != 64.0 || bill["billedDurationInMilliseconds"].(float64) < 100 {
		t.Errorf("%v", bill)
	}
	failed := s.call("StartSyncExecution", object{"stateMachineArn": s.create("Fails", failing, "type", "EXPRESS"), "includedData": "METADATA_ONLY"})
	if failed["status"] != "FAILED" || failed["input"] != nil {
		t.Errorf("%v", failed)
	}
}

// TestSyncTimesOut waits for an Express execution that takes longer than five minutes.
func TestSyncTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, sfn.Config{})
		var machine struct{ StateMachineArn string }
		w.must(t, "CreateStateMachine", object{"name": "Long", "definition": waiting, "roleArn": role, "type": "EXPRESS"}, &machine)
		began := time.Now()
		var x struct {
			Status         string
			BillingDetails struct{ BilledDurationInMilliseconds int64 }
		}
		w.must(t, "StartSyncExecution", object{"stateMachineArn": machine.StateMachineArn}, &x)
		if took := time.Since(began); x.Status != "TIMED_OUT" || took < 5*time.Minute || took > 5*time.Minute+5*time.Second {
			t.Errorf("%v after %v", x, took)
		}
	})
}
