package sfn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A world is a server of the API in memory, with a client.
type world struct {
	store   backend.Store
	client  *http.Client
	tasksOf func(*storage.Run) (engine.Tasks, error) // nil means the same tasks for all runs
	// logFailed is told of lines that could not be written; nil means that all can be written.
	logFailed func(error)
	api       *sfn.Server
	signed    string // Authorization of its requests; "" for none
}

// as returns a client whose requests are signed with an access key for a region.
func (w *world) as(key, region string) *world {
	other := *w
	other.signed = "AWS4-HMAC-SHA256 Credential=" + key + "/20260102/" + region + "/states/aws4_request, SignedHeaders=host, Signature=0"
	return &other
}

// newWorld starts a server for the time of a test, which drives executions. It completes the config.
func newWorld(t *testing.T, c sfn.Config) *world {
	t.Helper()
	return newWorldOf(t, c, &tasks.Registry{})
}

// newWorldOf is newWorld with the tasks that the definitions of executions name.
func newWorldOf(t *testing.T, c sfn.Config, of engine.Tasks) *world {
	t.Helper()
	if c.Store == nil {
		c.Store = memstore.New()
	}
	w := &world{store: backend.Of(c.Store)}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var driven *conductor.Conductor
	c.Stopping = ctx.Done()
	c.Start = func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
		return driven.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
	}
	api, err := sfn.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.api = api
	catalog := conductor.NewCatalog().Language("asl", compiled).Complete(api.Complete).Queues(api.Queue).
		TasksOf(func(run *storage.Run) (engine.Tasks, error) {
			if w.tasksOf == nil {
				return nil, nil //nolint:nilnil // those of the engine
			}
			return w.tasksOf(run)
		})
	driven, err = conductor.New(jobs.New(w.store, jobs.Policy{}), catalog, engine.WithDrain(0),
		engine.WithEngine(engine.WithTasks(of), engine.WithObserver(api.Observe)))
	if err != nil {
		t.Fatal(err)
	}
	listener := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: aws.New(aws.Options{Region: api.Region(), AnyAccount: c.AnyAccount}, api.Service())}
	transport := &http.Transport{DialContext: listener.dial}
	w.client = &http.Client{Transport: transport}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	serving.Go(func() {
		api.Log(ctx, func(err error) {
			if w.logFailed == nil {
				t.Error(err)
				return
			}
			w.logFailed(err)
		})
	})
	serving.Go(func() {
		if err := driven.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// compiled is the language of the definitions.
func compiled(_ context.Context, def storage.Definition) (flow.Node, error) {
	m, err := asl.Parse(def.Name, def.Text)
	if err != nil {
		return nil, err
	}
	return m.Flow(), nil
}

// call sends a request, and returns the answer.
func (w *world) call(t *testing.T, op string, params any) *conformance.APIAnswer {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.send(t.Context(), op, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (w *world) send(ctx context.Context, op string, body []byte) (*conformance.APIAnswer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sync-localhost/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+op)
	if w.signed != "" {
		r.Header.Set("Authorization", w.signed)
	}
	res, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return &conformance.APIAnswer{Body: text}, nil
	}
	var refused struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(text, &refused); err != nil {
		return nil, fmt.Errorf("%d %s: %w", res.StatusCode, text, err)
	}
	return &conformance.APIAnswer{Code: refused.Type[strings.Index(refused.Type, "#")+1:], Message: refused.Message}, nil
}

// must sends a request that must succeed, and decodes the answer.
func (w *world) must(t *testing.T, op string, params, into any) {
	t.Helper()
	answer := w.call(t, op, params)
	if answer.Code != "" {
		t.Fatalf("%s: %s: %s", op, answer.Code, answer.Message)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Body, into); err != nil {
			t.Fatal(err)
		}
	}
}

// refuses sends a request that must be refused with a code.
func (w *world) refuses(t *testing.T, op string, params any, code string) {
	t.Helper()
	if answer := w.call(t, op, params); answer.Code != code {
		t.Errorf("%s %v: got %q %q, want %s", op, params, answer.Code, answer.Message, code)
	}
}

// Pipes are a listener whose connections are in memory, so that time in a bubble of synctest passes.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.accepted <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// object is a JSON object in a test.
type object = map[string]any
