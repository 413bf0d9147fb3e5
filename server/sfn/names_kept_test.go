package sfn_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/sfn"
)

// TestNamesAreKept uses the name of an execution again, 90 days after its end.
func TestNamesAreKept(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	w := newWorld(t, sfn.Config{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	var machine struct{ StateMachineArn string }
	w.must(t, "CreateStateMachine", object{"name": "Trip", "definition": passing, "roleArn": role}, &machine)
	start := object{"stateMachineArn": machine.StateMachineArn, "name": "monday", "input": `{"n": 1}`}
	var first, second struct {
		ExecutionArn string
		StartDate    float64
		Status       string
	}
	w.must(t, "StartExecution", start, &first)
	for first.Status != "SUCCEEDED" {
		w.must(t, "DescribeExecution", object{"executionArn": first.ExecutionArn}, &first)
	}
	const day = 24 * time.Hour
	for _, after := range []time.Duration{0, 89 * day} {
		later.Store(int64(after))
		w.refuses(t, "StartExecution", start, "ExecutionAlreadyExists")
	}
	later.Store(int64(90*day + time.Minute))
	w.must(t, "StartExecution", start, &second)
	if second.ExecutionArn != first.ExecutionArn || second.StartDate-first.StartDate < (90*day).Seconds() {
		t.Errorf("%v, then %v", first, second)
	}
}
