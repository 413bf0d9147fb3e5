package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage/memstore"
)

// FuzzResources sends any body to the operations on resources. No answer is a fault of the server.
func FuzzResources(f *testing.F) {
	const arn = resource + "stateMachine:m"
	operations := []string{
		"CreateStateMachine", "UpdateStateMachine", "DescribeStateMachine", "DeleteStateMachine", "ListStateMachines",
		"ValidateStateMachineDefinition", "PublishStateMachineVersion", "ListStateMachineVersions",
		"DeleteStateMachineVersion", "CreateStateMachineAlias", "UpdateStateMachineAlias", "DescribeStateMachineAlias",
		"ListStateMachineAliases", "DeleteStateMachineAlias", "TagResource", "UntagResource", "ListTagsForResource",
		"CreateActivity", "DescribeActivity", "DeleteActivity", "ListActivities", "TestState",
	}
	for _, body := range []string{
		`{}`, `{"name":"m","definition":"{}","roleArn":"` + role + `"}`, `{"stateMachineArn":"` + arn + `:1"}`,
		`{"stateMachineArn":"` + arn + `/label:x#test"}`, `{"stateMachineArn":"arn:aws:states:::stateMachine:m"}`,
		`{"stateMachineAliasArn":"` + arn + `:live","routingConfiguration":[{"stateMachineVersionArn":"` + arn + `:1","weight":100}]}`,
		`{"name":"a","routingConfiguration":[{"stateMachineVersionArn":"` + arn + `:99999999999999999999","weight":100}]}`,
		`{"resourceArn":"` + arn + `","tags":[{"key":"a"}],"tagKeys":["a"]}`, `{"activityArn":"` + resource + `activity:\u0000"}`,
		`{"definition":"{\"Type\":\"Pass\",\"End\":true}","input":"[","context":"1","variables":"[]","mock":{"result":"x"}}`,
		`{"definition":"{\"StartAt\":1,\"States\":{\"a/b\":{\"Type\":\"Map\"}}}","maxResults":1,"severity":"WARNING"}`,
		`{"nextToken":"AAAA","maxResults":7}`,
	} {
		for i := range operations {
			f.Add(uint8(i), body)
		}
	}
	f.Fuzz(func(t *testing.T, at uint8, body string) {
		store := memstore.New()
		api, err := sfn.New(sfn.Config{
			Store: store,
			Call:  func(context.Context, string, atom.Value) (atom.Value, *atom.Failure) { return atom.Null, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		handler := aws.New(aws.Options{Region: api.Region()}, api.Service())
		send := func(op, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "AWSStepFunctions."+op)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w
		}
		send("CreateStateMachine", `{"name":"m","publish":true,"roleArn":"`+role+`","definition":`+
			`"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Pass\",\"End\":true}}}"}`)
		op := operations[int(at)%len(operations)]
		if w := send(op, body); !slices.Contains([]int{http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge}, w.Code) {
			t.Errorf("%s %s: %d %s", op, body, w.Code, w.Body)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzARN sends any ARN to each operation that takes one. No answer is a fault of the server, and each described object
// has the requested ARN.
func FuzzARN(f *testing.F) {
	members := []string{
		"DescribeStateMachine stateMachineArn", "UpdateStateMachine stateMachineArn", "DeleteStateMachine stateMachineArn",
		"PublishStateMachineVersion stateMachineArn", "ListStateMachineVersions stateMachineArn",
		"DeleteStateMachineVersion stateMachineVersionArn", "DescribeStateMachineAlias stateMachineAliasArn",
		"UpdateStateMachineAlias stateMachineAliasArn", "DeleteStateMachineAlias stateMachineAliasArn",
		"ListStateMachineAliases stateMachineArn", "StartExecution stateMachineArn", "StartSyncExecution stateMachineArn",
		"ListExecutions stateMachineArn", "ListExecutions mapRunArn", "DescribeExecution executionArn",
		"DescribeStateMachineForExecution executionArn", "GetExecutionHistory executionArn", "StopExecution executionArn",
		"RedriveExecution executionArn", "ListMapRuns executionArn", "DescribeMapRun mapRunArn", "UpdateMapRun mapRunArn",
		"DescribeActivity activityArn", "DeleteActivity activityArn", "TagResource resourceArn", "UntagResource resourceArn",
		"ListTagsForResource resourceArn",
	}
	for _, arn := range []string{
		"", "arn", "arn:::::::", resource + "stateMachine:m", resource + "stateMachine:m:1", resource + "stateMachine:m:live",
		resource + "stateMachine:m/l:x", resource + "stateMachine:m#case", resource + "stateMachine:m:1:2", resource + "stateMachine:" +
			"\u00e9", resource + "execution:m:x", resource + "express:m:x:1", resource + "mapRun:m/l:u", resource + "mapRun:m:x/l:u",
		resource + "activity:a", "arn:aws:states:eu-west-1:000000000000:stateMachine:m", resource + "stateMachine:m:99999999999999999999",
		resource + "stateMachine:../m", resource + "execution:m:" + strings.Repeat("x", 300),
	} {
		for i := range members {
			f.Add(uint8(i), arn)
		}
	}
	f.Fuzz(func(t *testing.T, at uint8, arn string) {
		send := sender(t)
		send("CreateActivity", object{"name": "a"})
		send("CreateStateMachine", object{
			"name": "m", "publish": true, "roleArn": role,
			"definition": `{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`,
		})
		op, member, _ := strings.Cut(members[int(at)%len(members)], " ")
		w := send(op, object{
			member: arn, "tags": []any{}, "tagKeys": []any{}, "definition": `{}`, "description": "d", "maxConcurrency": 1,
		})
		if !slices.Contains([]int{http.StatusOK, http.StatusBadRequest, http.StatusRequestEntityTooLarge}, w.Code) {
			t.Errorf("%s %q: %d %s", op, arn, w.Code, w.Body)
		}
		var described map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &described); err != nil {
			t.Fatal(err)
		}
		if asked, _, _ := strings.Cut(arn, "#"); w.Code == http.StatusOK && strings.HasPrefix(op, "Describe") && described[member] != asked {
			t.Errorf("%s %q: %s", op, arn, w.Body)
		}
	})
}

// FuzzPageToken changes the token of a page, or asks for another list with it. Only the token itself, for its own list,
// has a page, of any size.
func FuzzPageToken(f *testing.F) {
	f.Add("", uint8(0), byte(0), 2)
	f.Add("", uint8(3), byte(1), 2)
	f.Add("AAAA", uint8(0), byte(0), 2)
	f.Add("", uint8(0), byte(0), 1)
	f.Fuzz(func(t *testing.T, other string, at uint8, change byte, size int) {
		send := sender(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			send("CreateActivity", object{"name": name})
		}
		var page struct {
			Activities []struct{ Name string }
			NextToken  string
		}
		if err := json.Unmarshal(send("ListActivities", object{"maxResults": 2}).Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		text := []byte(page.NextToken)
		text[int(at)%len(text)] ^= change
		token := string(text)
		if other != "" {
			token = other
		}
		w := send("ListActivities", object{"maxResults": size, "nextToken": token})
		if own := token == page.NextToken && 0 <= size && size <= records.MaxPage; own != (w.Code == http.StatusOK) {
			t.Errorf("%q, %d: %d %s", token, size, w.Code, w.Body)
		} else if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d %s", token, w.Code, w.Body)
		}
		if w = send("ListStateMachines", object{"maxResults": 2, "nextToken": token}); w.Code != http.StatusBadRequest {
			t.Errorf("another list: %q: %d %s", token, w.Code, w.Body)
		}
	})
}

// sender returns what sends requests to a new server that starts no executions.
func sender(t *testing.T) func(op string, params object) *httptest.ResponseRecorder {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	api, err := sfn.New(sfn.Config{
		Store: store,
		Start: func(context.Context, string, string, ...engine.RunOption) error {
			return aws.Errorf("ExecutionLimitExceeded", "no execution starts here")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	handler := aws.New(aws.Options{Region: api.Region()}, api.Service())
	return func(op string, params object) *httptest.ResponseRecorder {
		body, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions."+op)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
}
