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

// TestCommittedIsDone sends requests through a server whose store fails at the commit of the request, and from there on.
func TestCommittedIsDone(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	s := serveOn(t, store, nil)
	waits := s.create("Waits", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}`)
	fails := s.create("Fails", `{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "No"}}}`)
	maps := s.create("Maps", `{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}}}}`)
	running, failed := s.start(waits, "x", `{}`), s.start(fails, "x", `{}`)
	s.execution(failed)
	mapped := s.start(maps, "x", `[1, 2]`)
	var mapRun string
	for changed := store.Changed(); mapRun == ""; changed = store.Changed() {
		if list, _ := s.pages("ListMapRuns", "mapRuns", object{"executionArn": mapped}); len(list) > 0 {
			mapRun = list[0]["mapRunArn"].(string)
			break
		}
		<-changed
	}
	for operation, body := range map[string]string{
		"StopExecution": `{"executionArn": "` + running + `"}`, "RedriveExecution": `{"executionArn": "` + failed + `"}`,
		"UpdateMapRun": `{"maxConcurrency": 1, "mapRunArn": "` + mapRun + `"}`,
	} {
		for _, c := range []struct {
			plan   faultstore.Plan
			status int
		}{{faultstore.Writing(1, faultstore.Unsure), 503}, {faultstore.After(1, faultstore.Busy), 200}} {
			api, err := sfn.New(sfn.Config{
				Store: faultstore.New(store, c.plan),
				Start: func(context.Context, string, string, ...engine.RunOption) error { return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
			answer := httptest.NewRecorder()
			aws.New(aws.Options{Region: api.Region()}, api.Service()).ServeHTTP(answer, r)
			if answer.Code != c.status {
				t.Errorf("%s: %d %s; want %d", operation, answer.Code, answer.Body, c.status)
			}
		}
	}
}
