package sfn_test

import (
	"testing"

	"github.com/ebbflow/ebb/storage/memstore"
)

// TestDeletedActivity enters a state whose activity was deleted: it fails at once, and no Catcher of States.ALL helps.
func TestDeletedActivity(t *testing.T) {
	t.Parallel()
	s := serveOn(t, memstore.New(), nil)
	activity := s.call("CreateActivity", object{"name": "work"})["activityArn"].(string)
	machine := s.create("One", `{"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "`+activity+`", "End": true,
		"Retry": [{"ErrorEquals": ["States.ALL"]}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]},
		"Caught": {"Type": "Pass", "End": true}}}`)
	s.call("DeleteActivity", object{"activityArn": activity})
	arn := s.start(machine, "x", `{}`)
	if x := s.execution(arn); x["status"] != "FAILED" || x["error"] != "States.Runtime" ||
		x["cause"] != "An error occurred while executing the state 'One' (entered at the event id #2). The activity ARN does not exist." {
		t.Errorf("%v", x)
	}
	events, _ := s.pages("GetExecutionHistory", "events", object{"executionArn": arn})
	if len(events) != 3 || events[1]["type"] != "TaskStateEntered" || events[2]["type"] != "ExecutionFailed" {
		t.Errorf("%v", events)
	}
	s.call("CreateActivity", object{"name": "work"})
	s.call("RedriveExecution", object{"executionArn": arn})
	s.call("SendTaskSuccess", object{"taskToken": s.task(activity), "output": "1"})
	if x := s.execution(arn); x["status"] != "SUCCEEDED" {
		t.Errorf("%v", x)
	}
}
