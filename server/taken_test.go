package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/sfn"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTakenTasksBounded: a task that a worker takes counts as an answer. While there is no memory for it, the worker
// is refused, or gets only a small answer. A task whose worker gets no answer goes to the next worker, or times out.
//
// Attack (HTTP server): Workers that take tasks with large inputs, while no answers are read.
// Result: Each counts as an answer. A task that its worker does not get is not lost.
// Also: `server/swf: TestUnansweredTask`.
func TestTakenTasksBounded(t *testing.T) {
	t.Parallel()
	for _, door := range []struct {
		target, body string
		small, large int    // statuses of the answers without memory; 0 is none
		next         string // part of what is in the next answer
	}{
		{"AWSStepFunctions.GetActivityTask", `{"activityArn": "ACTIVITY"}`, 400, 400, "x"},
		{"SimpleWorkflowService.PollForActivityTask", `{"domain": "d", "taskList": {"name": "a"}}`, 200, 0, "ActivityTaskTimedOut"},
		{"SimpleWorkflowService.PollForDecisionTask", `{"domain": "d", "taskList": {"name": "l"}}`, 200, 0, "DecisionTaskTimedOut"},
		{"", `{"kinds": ["work"], "wait_seconds": 5}`, 429, 429, "x"},
	} {
		for _, input := range []string{"x", strings.Repeat("x", 30_000)} {
			t.Run(fmt.Sprint(door.target, len(input)), func(t *testing.T) {
				t.Parallel()
				w := &tasksOf{T: t}
				server.ServeLocal(t, w.serve, func(dial func(string) server.Visit) {
					defer w.stop()
					head := "POST /tasks/poll HTTP/1.1\r\nContent-Type: application/json\r\n"
					if door.target != "" {
						head = "POST / HTTP/1.1\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: " + door.target + "\r\n"
					}
					w.create(door.target, input)
					body := strings.ReplaceAll(door.body, "ACTIVITY", w.activity)
					for range server.MaxAnswers / server.PageSize / 2 {
						dial("a").Send("GET /hangs HTTP/1.1\r\n", "")
					}
					synctest.Wait()
					want := door.small
					if len(input) > 1 {
						want = door.large
					}
					if status, text := dial("a").Send(head, body).Answered(); status != want {
						t.Errorf("without memory, the answer is %d %.300s", status, text)
					}
					if want == 200 {
						return
					}
					if want == 0 { // who decides hears of it
						head, body = strings.Replace(head, "Activity", "Decision", 1), strings.Replace(body, `"a"`, `"l"`, 1)
					}
					if status, text := dial("b").Send(head, body).Answered(); status != 200 || !strings.Contains(text, door.next) {
						t.Errorf("the next worker gets %d %.300s", status, text)
					}
				})
			})
		}
	}
}

// A tasksOf is a server with tasks for workers.
type tasksOf struct {
	*testing.T

	store    *memstore.Store
	api      http.Handler
	activity string
	stop     func()
}

// serve returns the handlers of a server of all kinds of workers, whose other paths never answer.
func (w *tasksOf) serve(s *server.Server) http.Handler {
	w.store = memstore.New()
	ctx, cancel := context.WithCancel(context.Background())
	var driven *conductor.Conductor
	states, err := sfn.New(sfn.Config{
		Store: w.store, Start: func(ctx context.Context, run, definition string, opts ...engine.RunOption) error {
			return driven.Start(ctx, run, conductor.Ref{Definition: definition}, opts...)
		},
	})
	decisions, err2 := swf.New(swf.Config{Store: w.store})
	if err := errors.Join(err, err2); err != nil {
		w.Fatal(err)
	}
	catalog := conductor.NewCatalog().Add(1, decisions.Flow()).Complete(states.Complete).
		Language("asl", func(_ context.Context, def storage.Definition) (flow.Node, error) {
			m, err := asl.Parse(def.Name, def.Text)
			if err != nil {
				return nil, err
			}
			return m.Flow(), nil
		})
	driven, err = conductor.New(jobs.New(w.store, jobs.Policy{}), catalog, engine.WithDrain(0))
	if err != nil {
		w.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- driven.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := errors.Join(<-done, w.store.Close()); err != nil {
			w.Error(err)
		}
	}
	api := aws.New(aws.Options{Region: states.Region()}, states.Service(), decisions.Service(driven))
	w.api = api
	s.ServeAWS(api)
	mux := http.NewServeMux()
	mux.Handle("/tasks/", workers.Handler(ctx, w.store))
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return mux
}

// create creates a task with an input for the workers of a kind.
func (w *tasksOf) create(target, input string) {
	const in = `"domain": "d", "taskList": {"name": "l"}`
	switch target {
	case "":
		root := flow.Linear("f", atom.Remote[struct{ Text string }, int]("work", "work"))
		e, err := engine.New(root, w.store, engine.With(atom.NewKey[string]("Text"), input))
		if err != nil {
			w.Fatal(err)
		}
		if _, err := e.Run(context.Background(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			w.Fatal(err)
		}
	case "AWSStepFunctions.GetActivityTask":
		w.activity = w.call("AWSStepFunctions.CreateActivity", `{"name": "a"}`)["activityArn"].(string)
		definition, err := json.Marshal(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "` + w.activity + `", "End": true}}}`)
		if err != nil {
			w.Fatal(err)
		}
		machine := w.call("AWSStepFunctions.CreateStateMachine",
			`{"name": "m", "roleArn": "arn:aws:iam::123456789012:role/r", "definition": `+string(definition)+`}`)["stateMachineArn"]
		w.call("AWSStepFunctions.StartExecution", fmt.Sprintf(`{"stateMachineArn": %q, "input": "\"%s\""}`, machine, input))
	default:
		w.call("SimpleWorkflowService.RegisterDomain", `{"name": "d", "workflowExecutionRetentionPeriodInDays": "1"}`)
		for _, kind := range []string{"Workflow", "Activity"} {
			w.call("SimpleWorkflowService.Register"+kind+"Type", `{"domain": "d", "name": "t", "version": "1"}`)
		}
		w.call("SimpleWorkflowService.StartWorkflowExecution", `{`+in+`, "workflowId": "x", "workflowType": {"name": "t", "version": "1"},
			"childPolicy": "TERMINATE", "taskStartToCloseTimeout": "NONE", "executionStartToCloseTimeout": "9999", "input": "`+input+`"}`)
		if !strings.Contains(target, "Activity") {
			return
		}
		token := w.call("SimpleWorkflowService.PollForDecisionTask", `{`+in+`}`)["taskToken"]
		w.call("SimpleWorkflowService.RespondDecisionTaskCompleted", fmt.Sprintf(`{"taskToken": %q, "decisions": [{
			"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": {
			"activityId": "1", "activityType": {"name": "t", "version": "1"}, "taskList": {"name": "a"}, "input": %q,
			"heartbeatTimeout": "NONE", "startToCloseTimeout": "NONE", "scheduleToStartTimeout": "NONE", "scheduleToCloseTimeout": "NONE"
			}}]}`, token, input))
	}
}

// call sends a request of an AWS client that must succeed.
func (w *tasksOf) call(target, body string) (out map[string]any) {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	a := httptest.NewRecorder()
	w.api.ServeHTTP(a, r)
	if a.Code != http.StatusOK {
		w.Fatal(target, a.Code, a.Body)
	}
	_ = json.Unmarshal(a.Body.Bytes(), &out) // the answer may be empty
	return out
}
