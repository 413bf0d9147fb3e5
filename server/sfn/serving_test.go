package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
)

// A served is a server with a conductor, as ebb serve has them.
type served struct {
	tb   testing.TB
	url  string
	api  http.Handler
	stop func()
}

// serveOn serves a store until the test ends, or until stop is called.
func serveOn(tb testing.TB, store backend.Store, registry *tasks.Registry) *served {
	tb.Helper()
	if registry == nil {
		registry = &tasks.Registry{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	api, c, err := composed(ctx, store, registry)
	if err != nil {
		tb.Fatal(err)
	}
	var beside sync.WaitGroup
	beside.Go(func() {
		if err := c.Run(ctx); err != nil {
			tb.Error(err)
		}
	})
	server := httptest.NewServer(api)
	s := &served{tb: tb, url: server.URL, api: api}
	s.stop = sync.OnceFunc(func() {
		cancel()
		server.Close()
		beside.Wait()
	})
	tb.Cleanup(s.stop)
	return s
}

// composed returns a handler of the API and its conductor.
func composed(ctx context.Context, store backend.Store, registry *tasks.Registry) (http.Handler, *conductor.Conductor, error) {
	var c *conductor.Conductor
	api, err := sfn.New(sfn.Config{
		Store: store, Stopping: ctx.Done(),
		Start: func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
			return c.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	catalog := conductor.NewCatalog().Language("asl", compiled).Complete(api.Complete).Queues(api.Queue)
	c, err = conductor.New(jobs.New(store, jobs.Policy{}), catalog, engine.WithDrain(0), engine.WithEngine(engine.WithTasks(registry)))
	return aws.New(aws.Options{Region: api.Region()}, api.Service()), c, err
}

// An apiError is an answer that refuses a request.
type apiError struct {
	Code    string `json:"__type"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// try sends a request.
func (s *served) try(ctx context.Context, operation string, params object) (object, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		refused := &apiError{}
		if err := json.Unmarshal(text, refused); err != nil {
			return nil, fmt.Errorf("%s: %s", answer.Status, text)
		}
		return nil, refused
	}
	out := object{}
	return out, json.Unmarshal(text, &out)
}

// call sends a request that succeeds.
func (s *served) call(operation string, params object) object {
	s.tb.Helper()
	out, err := s.try(s.tb.Context(), operation, params)
	if err != nil {
		s.tb.Fatalf("%s: %v", operation, err)
	}
	return out
}

const errorPrefix = "com.amazonaws.swf.service.v2.model#"

// refused sends a request that is refused with a code and a message.
func (s *served) refused(operation string, params object, code, message string) {
	s.tb.Helper()
	out, err := s.try(s.tb.Context(), operation, params)
	refused, ok := errors.AsType[*apiError](err)
	if !ok {
		s.tb.Errorf("%s: %v, %v; want %s", operation, out, err, code)
		return
	}
	if refused.Code != errorPrefix+code || refused.Message != message {
		s.tb.Errorf("%s: %v\nwant %s: %s", operation, refused, code, message)
	}
}

const role = "arn:aws:iam::000000000000:role/any"

// create creates a machine and returns its ARN.
func (s *served) create(name, definition string, more ...string) string {
	s.tb.Helper()
	params := object{"name": name, "definition": definition, "roleArn": role}
	for i := 0; i < len(more); i += 2 {
		params[more[i]] = more[i+1]
	}
	return s.call("CreateStateMachine", params)["stateMachineArn"].(string)
}

// execution waits until an execution has ended, and describes it.
func (s *served) execution(arn string) object {
	s.tb.Helper()
	for end := time.Now().Add(time.Minute); ; {
		x := s.call("DescribeExecution", object{"executionArn": arn})
		if x["status"] != "RUNNING" {
			return x
		}
		if time.Now().After(end) {
			s.tb.Fatalf("%s is RUNNING", arn)
		}
	}
}

// start starts an execution.
func (s *served) start(machine, name, input string) string {
	s.tb.Helper()
	return s.call("StartExecution", object{"stateMachineArn": machine, "name": name, "input": input})["executionArn"].(string)
}
