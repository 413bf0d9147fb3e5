package swf_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
)

// TestStopWins ends an execution whose decider, and those of the executions below it, start a child in each task: a client
// terminates it, or an operator cancels its run.
//
// Guarantee (G9): With the child policy TERMINATE, the end of an execution wins: the executions below it, at any depth, are
// closed faster than they start others.
//
// Attack (AWS clients): TerminateWorkflowExecution of an execution whose descendants start children, 100 deep, and
// never end.
// Result: All close. Few start after it.
func TestStopWins(t *testing.T) {
	t.Parallel()
	ends := map[string]func(t *testing.T, w *world, run string){
		"terminated": func(t *testing.T, w *world, run string) {
			t.Helper()
			w.must(t, "TerminateWorkflowExecution", object{"domain": "d", "workflowId": "x0", "runId": run})
		},
		"cancelled": func(t *testing.T, w *world, run string) {
			t.Helper()
			err := engine.Send(t.Context(), w.store, run, engine.Cancel("enough"))
			if err == nil {
				_, err = engine.Await(t.Context(), w.store, run)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopWins(t, end)
		})
	}
}

func stopWins(t *testing.T, end func(t *testing.T, w *world, run string)) {
	t.Helper()
	const depth, deciders, most = 100, 4, 30 // most executions that start after the termination
	w := newWorld(t, swf.Config{})
	w.types(t)
	root := w.start(t, "x0")
	var born atomic.Int64
	deep := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	decide := func() {
		for ctx.Err() == nil {
			task := w.asks(ctx, "PollForDecisionTask", `{"domain": "d", "taskList": {"name": "l"}}`)
			_, token, found := strings.Cut(task, `"taskToken":"`)
			if !found {
				continue
			}
			token, _, _ = strings.Cut(token, `"`)
			n := born.Add(1)
			if n == depth {
				close(deep)
			}
			w.asks(ctx, "RespondDecisionTaskCompleted", fmt.Sprintf(`{"taskToken": %q, "decisions": [{
				"decisionType": "StartChildWorkflowExecution", "startChildWorkflowExecutionDecisionAttributes": {
				"workflowId": "x%d", "workflowType": {"name": "t", "version": "1"}}}]}`, token, n))
		}
	}
	var deciding sync.WaitGroup
	for range deciders {
		deciding.Go(decide)
	}
	<-deep
	end(t, w, root)
	before := born.Load()
	for open := true; open; {
		open = false
		for run, err := range storage.EachRun(t.Context(), w.store, storage.RunQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			if run.State.Ended() {
				continue
			}
			open = true
			if _, err := engine.Await(t.Context(), w.store, run.ID); err != nil {
				t.Fatal(err)
			}
		}
		if n := born.Load(); n > before+most {
			t.Fatalf("%d executions started after the termination of %d", n-before, before)
		}
	}
	t.Logf("%d executions started after the termination of %d", born.Load()-before, before)
	stop()
	deciding.Wait() // each poll is answered, or its client is gone
}

// asks sends a request, whatever becomes of it.
func (w *world) asks(ctx context.Context, operation, body string) string {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "SimpleWorkflowService."+operation)
	recorded := httptest.NewRecorder()
	w.handler.ServeHTTP(recorded, r)
	return recorded.Body.String()
}
