package workers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(workerVariable); url != "" {
		beWorker(url)
		return
	}
	goleak.VerifyTestMain(m)
}

// workerVariable tells a process of this test binary that it is a worker, and of
// which server.
const workerVariable = "EBB_TEST_WORKER"

// errorser is a test, or a property of one.
type errorser interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// A place has runs whose tasks are work for workers, and is where these ask.
type place struct {
	store   backend.Store
	eng     *engine.Engine
	handler http.Handler
	stop    func()
}

// open serves runs of a flow until stop is called.
func open(t errorser, store backend.Store, root flow.Node) *place {
	t.Helper()
	eng, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- eng.Serve(ctx) }()
	return &place{store: store, eng: eng, handler: workers.Handler(ctx, store), stop: func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	}}
}

func (p *place) start(t errorser, id string, opts ...engine.RunOption) {
	t.Helper()
	if err := p.eng.Start(context.Background(), id, opts...); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request to the handler, and returns the status and the answer.
func (p *place) ask(path, body string) (int, map[string]any) {
	r := httptest.NewRequest(http.MethodPost, "/tasks/"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	p.handler.ServeHTTP(w, r)
	var said map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &said) // an answer that is not JSON has no members
	return w.Code, said
}

// ended waits until a run has ended, and returns it.
func (p *place) ended(t errorser, id string) storage.Run {
	t.Helper()
	for {
		changed := p.store.Changed()
		run, err := p.store.Run(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if run.State.Ended() {
			return run
		}
		wait := time.NewTimer(20 * time.Millisecond) // the store does not notify when a run ends
		select {
		case <-changed:
		case <-wait.C:
		}
		wait.Stop()
	}
}

// once is a flow of one task, which is done by workers of the kind "do" and gives x.
func once(opts ...atom.Option) flow.Node {
	return flow.Linear("once", atom.Remote[struct{}, json.RawMessage]("task", "do", append(opts, atom.As("x"))...))
}
