package sfn_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/server/aws"
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
