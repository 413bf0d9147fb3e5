package awstest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/server/awstest"
)

type object = map[string]any

// call sends a request of an account, and returns the answer.
func call(t *testing.T, s *awstest.Server, target string, params object) object {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=123456789012/20260102/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := object{}
	if answer.StatusCode != http.StatusOK || len(text) > 0 && json.Unmarshal(text, &out) != nil {
		t.Fatalf("%s: %d %s", target, answer.StatusCode, text)
	}
	return out
}

// TestStart runs executions with a long wait, with a mock, and with a function of the test, and registers a domain.
func TestStart(t *testing.T) {
	t.Parallel()
	mocks, err := tasks.ReadMockFile("mocks.json", []byte(`{"StateMachines": {"m": {"TestCases": {"paid": {"Pay": "Paid"}}}},
		"MockedResponses": {"Paid": {"0": {"Return": {"by":"mock"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const function = "arn:aws:lambda:eu-west-1:123456789012:function:pay"
	s := awstest.Start(t, awstest.Options{Mocks: mocks, Functions: map[string]awstest.Function{
		function: func(_ context.Context, input json.RawMessage) (any, error) {
			return object{"by": "function", "in": input}, nil
		},
	}})
	machine, _ := call(t, s, "AWSStepFunctions.CreateStateMachine", object{
		"name": "m", "roleArn": "arn:aws:iam::123456789012:role/any", "definition": `{"StartAt": "Wait", "States": {
			"Wait": {"Type": "Wait", "Seconds": 86400, "Next": "Pay"}, "Pay": {"Type": "Task", "Resource": "` + function + `", "End": true}}}`,
	})["stateMachineArn"].(string)
	if !strings.HasPrefix(machine, "arn:aws:states:eu-west-1:123456789012:") {
		t.Errorf("the machine is %s", machine)
	}
	for arn, want := range map[string]string{machine: `{"by":"function","in":{}}`, machine + "#paid": `{"by":"mock"}`} {
		run := call(t, s, "AWSStepFunctions.StartExecution", object{"stateMachineArn": arn})
		told := object{"status": "RUNNING"}
		for told["status"] == "RUNNING" {
			told = call(t, s, "AWSStepFunctions.DescribeExecution", object{"executionArn": run["executionArn"]})
		}
		if told["status"] != "SUCCEEDED" || told["output"] != want {
			t.Errorf("%s: %v, want the output %s", arn, told, want)
		}
	}
	call(t, s, "SimpleWorkflowService.RegisterDomain", object{"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
}
