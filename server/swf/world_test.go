package swf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// object is a JSON object in a test.
type object = map[string]any

// A world is a server of the API with a conductor, as ebb serve has them.
type world struct {
	api     *swf.Server
	handler http.Handler
	store   backend.Store
	signed  string // Authorization of its requests; "" for none
}

// as returns a client whose requests are signed with an access key for a region.
func (w *world) as(key, region string) *world {
	other := *w
	other.signed = "AWS4-HMAC-SHA256 Credential=" + key + "/20260102/" + region + "/swf/aws4_request, SignedHeaders=host, Signature=0"
	return &other
}

// newWorld serves a store in memory for the time of a test. It completes the config.
func newWorld(t *testing.T, c swf.Config) *world {
	t.Helper()
	if c.Store == nil {
		c.Store = newStore(t)
	}
	store := backend.Of(c.Store)
	t.Cleanup(func() { checkExecutions(t, store) })
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	c.Stopping = ctx.Done()
	api, handler, driven, err := composed(c)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := driven.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	return &world{api: api, handler: handler, store: store}
}

// newStore returns a store in memory.
func newStore(t *testing.T) backend.Store {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// checkExecutions wants the rows of all executions to be what their events say.
func checkExecutions(t *testing.T, store backend.Store) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for run, err := range storage.EachRun(ctx, store, storage.RunQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		found, err := swf.Check(ctx, store, run.ID)
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %v, %q", run.ID, err, found)
		}
	}
}

// composed returns a server, its handler, and the conductor of its executions.
func composed(c swf.Config) (*swf.Server, http.Handler, *conductor.Conductor, error) {
	api, err := swf.New(c)
	if err != nil {
		return nil, nil, nil, err
	}
	driven, err := conductor.New(jobs.New(c.Store, jobs.Policy{}), conductor.NewCatalog().Add(1, api.Flow()), engine.WithDrain(0))
	return api, aws.New(aws.Options{Region: api.Region(), AnyAccount: true}, api.Service(driven)), driven, err
}

// An answer is the answer to a request.
type answer struct {
	Code    string // such as "UnknownResourceFault"; "" if the request succeeded
	Type    string // Code with its prefix
	Message string
	Body    object // nil if the body is empty
	status  int
}

// call sends a request.
func (w *world) call(t *testing.T, operation string, params any) *answer {
	t.Helper()
	body, isText := params.(string)
	if !isText {
		text, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "SimpleWorkflowService."+operation)
	r.Header.Set("Authorization", w.signed)
	recorded := httptest.NewRecorder()
	w.handler.ServeHTTP(recorded, r)
	a := &answer{status: recorded.Code}
	text := recorded.Body.Bytes()
	if len(bytes.TrimSpace(text)) == 0 {
		return a
	}
	if err := json.Unmarshal(text, &a.Body); err != nil {
		t.Fatalf("%s: %v: %s", operation, err, text)
	}
	if a.status != http.StatusOK {
		a.Type, _ = a.Body["__type"].(string)
		a.Message, _ = a.Body["message"].(string)
		a.Code = a.Type[strings.Index(a.Type, "#")+1:]
		observe(t, operation, a)
	}
	return a
}

// must sends a request that must succeed.
func (w *world) must(t *testing.T, operation string, params any) object {
	t.Helper()
	a := w.call(t, operation, params)
	if a.Code != "" {
		t.Fatalf("%s %v: %s: %s", operation, params, a.Code, a.Message)
	}
	return a.Body
}

// refuses sends a request that must be refused with a fault and a message; "" is any message.
func (w *world) refuses(t *testing.T, operation string, params any, code, message string) {
	t.Helper()
	a := w.call(t, operation, params)
	if a.Code != code || message != "" && a.Message != message {
		t.Errorf("%s %v: got %q %q, want %s %q", operation, params, a.Code, a.Message, code, message)
	}
	if a.status != http.StatusBadRequest {
		t.Errorf("%s %v: status %d", operation, params, a.status)
	}
}

// domain registers a domain.
func (w *world) domain(t *testing.T, name string) {
	t.Helper()
	w.must(t, "RegisterDomain", object{"name": name, "workflowExecutionRetentionPeriodInDays": "1"})
}

func typeOf(name, version string) object { return object{"name": name, "version": version} }
