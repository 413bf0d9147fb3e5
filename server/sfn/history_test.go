package sfn

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
)

// eventDetails are the types of events of the API's model (HistoryEventType), with the members of their details.
var eventDetails = map[string]string{
	"ActivityFailed": "activityFailed", "ActivityScheduled": "activityScheduled",
	"ActivityScheduleFailed": "activityScheduleFailed", "ActivityStarted": "activityStarted",
	"ActivitySucceeded": "activitySucceeded", "ActivityTimedOut": "activityTimedOut",
	"ChoiceStateEntered": "stateEntered", "ChoiceStateExited": "stateExited", "EvaluationFailed": "evaluationFailed",
	"ExecutionAborted": "executionAborted", "ExecutionFailed": "executionFailed",
	"ExecutionRedriven": "executionRedriven", "ExecutionStarted": "executionStarted",
	"ExecutionSucceeded": "executionSucceeded", "ExecutionTimedOut": "executionTimedOut",
	"FailStateEntered": "stateEntered", "LambdaFunctionFailed": "lambdaFunctionFailed",
	"LambdaFunctionScheduled": "lambdaFunctionScheduled", "LambdaFunctionScheduleFailed": "lambdaFunctionScheduleFailed",
	"LambdaFunctionStarted": "", "LambdaFunctionStartFailed": "lambdaFunctionStartFailed",
	"LambdaFunctionSucceeded": "lambdaFunctionSucceeded", "LambdaFunctionTimedOut": "lambdaFunctionTimedOut",
	"MapIterationAborted": "mapIterationAborted", "MapIterationFailed": "mapIterationFailed",
	"MapIterationStarted": "mapIterationStarted", "MapIterationSucceeded": "mapIterationSucceeded",
	"MapRunAborted": "", "MapRunFailed": "mapRunFailed", "MapRunRedriven": "mapRunRedriven",
	"MapRunStarted": "mapRunStarted", "MapRunSucceeded": "", "MapStateAborted": "", "MapStateEntered": "stateEntered",
	"MapStateExited": "stateExited", "MapStateFailed": "", "MapStateStarted": "mapStateStarted", "MapStateSucceeded": "",
	"ParallelStateAborted": "", "ParallelStateEntered": "stateEntered", "ParallelStateExited": "stateExited",
	"ParallelStateFailed": "", "ParallelStateStarted": "", "ParallelStateSucceeded": "",
	"PassStateEntered": "stateEntered", "PassStateExited": "stateExited", "SucceedStateEntered": "stateEntered",
	"SucceedStateExited": "stateExited", "TaskFailed": "taskFailed", "TaskScheduled": "taskScheduled",
	"TaskStarted": "taskStarted", "TaskStartFailed": "taskStartFailed", "TaskStateAborted": "",
	"TaskStateEntered": "stateEntered", "TaskStateExited": "stateExited", "TaskSubmitFailed": "taskSubmitFailed",
	"TaskSubmitted": "taskSubmitted", "TaskSucceeded": "taskSucceeded", "TaskTimedOut": "taskTimedOut",
	"WaitStateAborted": "", "WaitStateEntered": "stateEntered", "WaitStateExited": "stateExited",
}

func TestDetailsMembers(t *testing.T) {
	t.Parallel()
	for kind, member := range eventDetails {
		if member != "" {
			member += "EventDetails"
		}
		if got := detailsMember(kind); got != member {
			t.Errorf("the details of %s are in %q; want %q", kind, got, member)
		}
	}
}

// TestHistoryView writes events as AWS does, with and without data.
func TestHistoryView(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1735689600123)
	x := &execution{Attributes: asl.Attributes{ExecutionID: "arn"}, API: facts{Version: "arn:v", Alias: "arn:a"}}
	const head = `"timestamp": 1735689600.123, "id": 7, "previousEventId": 6, `
	for _, c := range []struct{ kind, details, key, body, want, without string }{
		{
			"ExecutionStarted", `{"roleArn": "arn:r"}`, "input", `{"a": "é\n"}`,
			`{` + head + `"type": "ExecutionStarted", "executionStartedEventDetails": {"input": "{\"a\": \"é\\n\"}", "inputDetails": {"truncated": false},
				"roleArn": "arn:r", "stateMachineAliasArn": "arn:a", "stateMachineVersionArn": "arn:v"}}`,
			`{` + head + `"type": "ExecutionStarted", "executionStartedEventDetails": {"roleArn": "arn:r", "stateMachineAliasArn": "arn:a",
				"stateMachineVersionArn": "arn:v"}}`,
		},
		{
			"PassStateExited", `{"assignedVariables": {"b": [1], "a": "x"}}`, "output", `null`,
			`{` + head + `"type": "PassStateExited", "stateExitedEventDetails": {"name": "Go", "output": "null", "outputDetails": {"truncated": false},
				"assignedVariables": {"a": "\"x\"", "b": "[1]"}, "assignedVariablesDetails": {"truncated": false}}}`,
			`{` + head + `"type": "PassStateExited", "stateExitedEventDetails": {"name": "Go"}}`,
		},
		{
			"TaskScheduled", `{"resource": "publish", "timeoutInSeconds": 5}`, "parameters", `{"p": 1}`,
			`{` + head + `"type": "TaskScheduled", "taskScheduledEventDetails": {"resource": "publish", "timeoutInSeconds": 5, "parameters": "{\"p\": 1}"}}`,
			`{` + head + `"type": "TaskScheduled", "taskScheduledEventDetails": {"resource": "publish", "timeoutInSeconds": 5}}`,
		},
		{"ActivityStarted", ``, "", "", `{` + head + `"type": "ActivityStarted", "activityStartedEventDetails": {}}`, ""},
		{"MapStateSucceeded", ``, "", "", `{` + head + `"type": "MapStateSucceeded"}`, ""},
	} {
		e := &storage.Entry{Number: 7, Prev: 6, Time: at, Type: c.kind, Key: c.key, Path: "Go"}
		if c.details != "" {
			e.Details = atom.FromJSON([]byte(c.details))
		}
		if c.key != "" {
			e.Body.Data = atom.FromJSON([]byte(c.body))
		}
		for data, want := range map[bool]string{true: c.want, false: c.without} {
			if want == "" {
				continue
			}
			got, err := (&historyView{execution: x, data: data}).event(e)
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			if err := json.Unmarshal(got, &a); err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if err := json.Unmarshal([]byte(want), &b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("%s, data %t (-want +got):\n%s", c.kind, data, diff)
			}
		}
	}
}
