package sfn_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestNestedCauses: executions that wait for one another fail for a reason of the innermost one. Each failure is as large
// as that of any other depth, is JSON, and shows that reason unquoted where it is deep.
//
// Attack (AWS clients): A machine that starts itself and waits, 40 executions deep, and the innermost one fails.
// Result: The failure of each has at most 10 KiB, and shows the innermost cause.
func TestNestedCauses(t *testing.T) {
	t.Parallel()
	const depth, innermost = 40, `the printer is "on fire"`
	store := memstore.New()
	s := serveOn(t, store, nil)
	machine := s.create("Deep", `{"StartAt": "More", "States": {
		"More": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThan": 0, "Next": "Start"}], "Default": "Bad"},
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "End": true, "Parameters": {
			"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:Deep", "Input": {"n.$": "States.MathAdd($.n, -1)"}}},
		"Bad": {"Type": "Fail", "Error": "Bad", "Cause": `+strconv.Quote(innermost)+`}}}`)
	x := s.execution(s.start(machine, "x", `{"n": `+strconv.Itoa(depth)+`}`))
	var outer struct{ Status, Cause string }
	if err := json.Unmarshal([]byte(x["cause"].(string)), &outer); err != nil || outer.Status != "FAILED" || outer.Cause == "" {
		t.Errorf("%v: %v", err, x)
	}
	shown, runs := 0, 0
	for run, err := range storage.EachRun(t.Context(), store, storage.RunQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		runs++
		if len(run.Failure.Message) > 10<<10 {
			t.Errorf("the failure at depth %d has %d bytes", run.Depth, len(run.Failure.Message))
		}
		if strings.Contains(run.Failure.Message, `"… the printer is \"on fire\""`) {
			shown++
		}
		if depth-run.Depth < 3 && !strings.Contains(strings.ReplaceAll(run.Failure.Message, `\`, ""), innermost) {
			t.Errorf("depth %d: %s", run.Depth, run.Failure.Message)
		}
	}
	if runs != depth+1 || shown < 3 {
		t.Errorf("%d runs, of which %d show the innermost cause", runs, shown)
	}
}
