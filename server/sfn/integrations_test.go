package sfn_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/awscall"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestIntegrations runs a machine that starts an execution through the SDK integration, reads a table that does not
// exist, and waits for the receiver of a message.
func TestIntegrations(t *testing.T) {
	t.Parallel()
	var s *served
	received := make(chan string, 1) // the token in the message
	var receiver sync.WaitGroup
	defer receiver.Wait()
	defer close(received)
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.") {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "message": "no table"}`)
			return
		}
		var message struct{ MessageBody string }
		_ = json.Unmarshal(body, &message)
		_, _ = io.WriteString(w, `{"MessageId": "id"}`)
		received <- message.MessageBody
	}))
	defer services.Close()
	to, err := url.Parse(services.URL)
	if err != nil {
		t.Fatal(err)
	}
	own := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) })
	caller := &awscall.Caller{
		Endpoint: to, Credentials: &awscall.Credentials{AccessKey: "id", Secret: "secret"}, Region: "us-east-1",
		Own: map[string]http.Handler{"states": own},
	}
	s = serveOn(t, memstore.New(), &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){awscall.Scheme: caller.Task}})
	receiver.Go(func() {
		for token := range received {
			if _, err := s.try(t.Context(), "SendTaskSuccess", object{"taskToken": token, "output": `"received"`}); err != nil {
				t.Error(err)
			}
		}
	})
	inner := s.create("inner", passing)
	outer := s.create("outer", `{"StartAt": "Start", "States": {
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sfn:startExecution", "Next": "Read",
			"Parameters": {"StateMachineArn": "`+inner+`", "Name": "monday", "Input": {"day": 1}}},
		"Read": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "Parameters": {"TableName": "t", "Key": {"k": {"S": "v"}}},
			"Catch": [{"ErrorEquals": ["DynamoDB.ResourceNotFoundException"], "Next": "Send"}], "End": true},
		"Send": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "End": true,
			"Parameters": {"QueueUrl": "http://elsewhere.example/q", "MessageBody.$": "$$.Task.Token"}}}}`)
	if x := s.execution(s.start(outer, "x", `{}`)); x["status"] != "SUCCEEDED" || x["output"] != `"received"` {
		t.Errorf("%v", x)
	}
	if x := s.execution(arns + "execution:inner:monday"); x["input"] != `{"day":1}` {
		t.Errorf("%v", x)
	}
	unmapped := s.create("unmapped", `{"StartAt": "Call", "States": {"Call": {"Type": "Task", "End": true,
		"Resource": "arn:aws:lambda:us-east-1:000000000000:function:f"}}}`)
	if x := s.execution(s.start(unmapped, "x", `{}`)); x["error"] != "Lambda.ResourceNotFoundException" {
		t.Errorf("%v", x)
	}
}

// TestMocks starts executions with test cases of mocks, whose answers stand for their tasks.
func TestMocks(t *testing.T) {
	t.Parallel()
	file, err := tasks.ReadMockFile("mocks.json", []byte(`{"StateMachines": {"trip": {"TestCases": {"paid": {"Pay": "Paid"}, "busy": {"Pay": "Busy"}}},
		"each": {"TestCases": {"paid": {"Pay": "Paid"}}}},
		"MockedResponses": {"Paid": {"0": {"Return": {"receipt": 7}}}, "Busy": {"0": {"Throw": {"Error": "Busy", "Cause": "later"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, sfn.Config{Mocked: func(machine, testCase string) error {
		_, err := file.Mocks(machine, testCase)
		return err
	}})
	w.tasksOf = func(run *storage.Run) (_ engine.Tasks, err error) {
		r := &tasks.Registry{}
		machine, testCase := sfn.TestCase(run)
		if testCase != "" {
			r.Mocks, err = file.Mocks(machine, testCase)
		}
		return r, err
	}
	var made struct{ StateMachineArn, StateMachineVersionArn string }
	w.must(t, "CreateStateMachine", object{"name": "trip", "roleArn": role, "publish": true, "definition": `{"StartAt": "Pay", "States":
		{"Pay": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"T.$": "$$.Task.Token"}, "End": true}}}`}, &made)
	start := func(of, name string) (x struct{ Status, Output, Error string }) {
		var started struct{ ExecutionArn string }
		w.must(t, "StartExecution", object{"stateMachineArn": of, "name": name}, &started)
		for x.Status == "" || x.Status == "RUNNING" {
			w.must(t, "DescribeExecution", object{"executionArn": started.ExecutionArn}, &x)
		}
		return x
	}
	if x := start(made.StateMachineArn+"#paid", "a"); x.Output != `{"receipt": 7}` {
		t.Errorf("%+v", x)
	}
	if x := start(made.StateMachineVersionArn+"#busy", "b"); x.Status != "FAILED" || x.Error != "Busy" {
		t.Errorf("%+v", x)
	}
	if x := start(made.StateMachineArn, "c"); x.Error != "Ebb.NoTask" {
		t.Errorf("without a test case: %+v", x)
	}
	each := w.make(t, "CreateStateMachine", object{"name": "each", "roleArn": role, "definition": `{"StartAt": "Two", "States": {
		"Two": {"Type": "Pass", "Result": [1, 2], "Next": "Each"}, "Each": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED",
			"ExecutionType": "STANDARD"}, "StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true}}}}}}`})
	if x := start(each.StateMachineArn+"#paid", "d"); x.Output != `[{"receipt": 7},{"receipt": 7}]` {
		t.Errorf("in a distributed Map: %+v", x)
	}
	w.refuses(t, "StartExecution", object{"stateMachineArn": made.StateMachineArn + "#none"}, "InvalidArn")
	plain := newWorld(t, sfn.Config{})
	plain.refuses(t, "StartExecution", object{"stateMachineArn": plain.machine(t, "m") + "#paid"}, "InvalidArn")
}
