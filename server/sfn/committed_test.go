package sfn_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCommittedIsDone sends requests through a server whose store fails from the commit of the request on.
func TestCommittedIsDone(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	s := serveOn(t, store, nil)
	waits := s.create("Waits", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}`)
	fails := s.create("Fails", `{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}`)
	running, failed := s.start(waits, "x", `{}`), s.start(fails, "x", `{}`)
	s.execution(failed)
	for operation, arn := range map[string]string{"StopExecution": running, "RedriveExecution": failed} {
		api, err := sfn.New(sfn.Config{
			Store: faultstore.New(store, faultstore.After(1, faultstore.Busy)),
			Start: func(context.Context, string, string, ...engine.RunOption) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(`{"executionArn": "`+arn+`"}`))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
		answer := httptest.NewRecorder()
		aws.New(aws.Options{Region: api.Region()}, api.Service()).ServeHTTP(answer, r)
		if answer.Code != 200 {
			t.Errorf("%s: %d %s", operation, answer.Code, answer.Body)
		}
	}
}
