package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// machines is a catalog of state machines by name.
func machines(t *testing.T, definitions map[string]string) flows {
	t.Helper()
	all := flows{}
	for name, text := range definitions {
		m, err := asl.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = m.Flow()
	}
	return all
}

// started is a machine that starts an execution.
func started(pattern, arguments, more string) string {
	return `{"StartAt": "Start", "States": {"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution` + pattern + `",
		"Parameters": ` + arguments + more + `, "End": true}}}`
}

const (
	inWorld = "arn:aws:states:eu-west-1:123456789012:"
	inAWS   = `{"StateMachineArn": "` + inWorld + `stateMachine:pack:3", "Name": "n1", "Input": {"n": 1, "by.$": "$$.Execution.Id"}}`
	here    = `{"StateMachineArn": "pack", "Input.$": "States.JsonToString($)"}`
	packing = `{"StartAt": "P", "States": {"P": {"Type": "Pass", "Parameters": {"in.$": "$", "me.$": "$$.Execution.Id", "of.$": "$$.StateMachine.Id"}, "End": true}}}`
	tearing = `{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Torn", "Cause": "the box"}}}`
	lying   = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}`
)

// Executions that a state starts are runs of their own. Their histories say what AWS's say.
func TestStartExecution(t *testing.T) {
	t.Parallel()
	times := `"StartDate":"«any»","StopDate":"«any»"`
	for _, c := range []struct{ name, pattern, arguments, more, child, want, event string }{
		{"not waited for", "", inAWS, "", packing, `{"ExecutionArn":"` + inWorld + `execution:pack:n1","StartDate":"«any»","SdkHttpMetadata":{"HttpStatusCode":200}}`, "TaskSucceeded"},
		{
			"waited for", ".sync", inAWS, "", packing,
			`{"ExecutionArn":"` + inWorld + `execution:pack:n1","Name":"n1","StateMachineArn":"` + inWorld + `stateMachine:pack:3","Status":"SUCCEEDED",` + times + `,
				"Input":"{\"n\":1,\"by\":\"arn:parent\"}","InputDetails":{"Included":true},"OutputDetails":{"Included":true},
				"Output":{"$json":{"in":{"n":1,"by":"arn:parent"},"me":"` + inWorld + `execution:pack:n1","of":"` + inWorld + `stateMachine:pack:3"}},
				"RedriveCount":0,"RedriveStatus":"NOT_REDRIVABLE","RedriveStatusReason":"Execution is SUCCEEDED and cannot be redriven"}`, "TaskSubmitted TaskSucceeded",
		},
		{
			"as JSON, by Ebb's names", ".sync:2", here, "", packing,
			`{"ExecutionArn":"r/Start","Name":"r/Start","StateMachineArn":"pack","Status":"SUCCEEDED",` + times + `,
				"Input":{"x":2},"InputDetails":{"Included":true},"OutputDetails":{"Included":true},"Output":{"in":{"x":2},"me":"r/Start","of":"pack"},
				"RedriveCount":0,"RedriveStatus":"NOT_REDRIVABLE","RedriveStatusReason":"Execution is SUCCEEDED and cannot be redriven"}`, "TaskSubmitted TaskSucceeded",
		},
		{
			"failed", ".sync", here, "", tearing,
			`States.TaskFailed {"Cause":"the box","Error":"Torn","ExecutionArn":"r/Start","Input":"{\"x\":2}","InputDetails":{"Included":true},"Name":"r/Start",` + times + `,
				"StateMachineArn":"pack","Status":"FAILED"}`, "TaskSubmitted TaskFailed",
		},
		{"for too long", ".sync", here, `, "TimeoutSeconds": 60`, lying, `States.Timeout `, "TaskSubmitted TaskTimedOut"},
		{
			"of nothing", ".sync", `{"StateMachineArn": "unpack"}`, "", packing,
			`StepFunctions.StateMachineDoesNotExistException State Machine Does Not Exist: 'unpack' (Service: AWSStepFunctions; Status Code: 400; Error Code: StateMachineDoesNotExist; ` +
				`Request ID: none; Proxy: null)`, "TaskFailed",
		},
		{"with no JSON", ".sync", `{"StateMachineArn": "pack", "Input": "{"}`, "", packing, `StepFunctions.InvalidExecutionInputException Invalid State Machine Execution Input: it is no JSON`, "TaskFailed"},
		{"with no machine", "", `{"Input": 1}`, "", packing, `StepFunctions.ValidationException StateMachineArn must be a text`, "TaskFailed"},
		{
			"again, after it failed", ".sync", here, `, "Retry": [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "End"}]`, tearing,
			`States.TaskFailed {"Cause":"the box","Error":"Torn","ExecutionArn":"r/Start@2","Input":"{\"x\":2}","InputDetails":{"Included":true},"Name":"r/Start@2",` + times + `,
				"StateMachineArn":"pack","Status":"FAILED"}`, "TaskSubmitted TaskFailed TaskScheduled TaskStarted TaskSubmitted TaskFailed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				eng, got := endOfStarting(t, started(c.pattern, c.arguments, c.more), c.child, opts)
				compareTold(t, c.want, got)
				if events := taskEvents(t, eng.Store()); !strings.HasSuffix(events, "TaskStarted "+c.event) {
					t.Errorf("events %s; want them to end with %s", events, c.event)
				}
				if c.name == "as JSON, by Ebb's names" {
					child, err := eng.Store().Run(t.Context(), "r/Start")
					if err != nil || child.Parent != "r" || !strings.Contains(child.Attrs.String(), `"more":{"kept":true}`) {
						t.Errorf("%s, %v", child.Attrs, err)
					}
				}
				if c.name == "for too long" {
					if child, err := eng.Run(t.Context(), "r/Start"); child == nil || child.Run.Outcome != storage.Cancelled {
						t.Errorf("the execution goes on: %v, %v", child, err)
					}
				}
			})
		})
	}
}

// endOfStarting runs a machine that starts an execution. It returns the result, or the error and cause.
func endOfStarting(t *testing.T, definition, child string, opts []engine.Option) (*engine.Engine, string) {
	t.Helper()
	definition = strings.Replace(definition, `"Next": "End"`, `"Next": "Done"`, 1)
	definition = strings.Replace(definition, `"End": true}}}`, `"End": true}, "Done": {"Type": "Pass", "End": true}}}`, 1)
	m, err := asl.Parse("outer", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	eng := newEngine(t, m.Flow(), append(opts, engine.WithCatalog(machines(t, map[string]string{"pack": child})))...)
	res, err := eng.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte(`{"x":2}`))),
		engine.Attributes(atom.FromJSON([]byte(`{"executionId":"arn:parent","more":{"kept":true}}`))))
	if res == nil {
		t.Fatal(err)
	}
	if f := res.Run.Failure; f != nil {
		return eng, f.Code + " " + f.Message
	}
	var caught struct{ Error, Cause string }
	if err := res.Output().Decode(&caught); err == nil && caught.Error != "" {
		return eng, caught.Error + " " + caught.Cause
	}
	return eng, res.Output().String()
}

// compareTold compares a text that may begin with a word and continue with JSON.
func compareTold(t *testing.T, want, got string) {
	t.Helper()
	wantHead, wantBody, _ := strings.Cut(want, "{")
	gotHead, gotBody, _ := strings.Cut(got, "{")
	if wantBody == "" || wantHead != gotHead {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		return
	}
	var wanted, given any
	for _, one := range []struct {
		text string
		into *any
	}{{"{" + wantBody, &wanted}, {"{" + gotBody, &given}} {
		if err := json.Unmarshal([]byte(one.text), one.into); err != nil {
			t.Fatalf("%s: %v", one.text, err)
		}
	}
	if miss := conformance.Difference(wanted, given); miss != "" {
		t.Errorf("%s\n%s", miss, got)
	}
}

func taskEvents(t *testing.T, store backend.Store) string {
	t.Helper()
	entries, err := store.History(t.Context(), "r", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for i := range entries {
		if strings.HasPrefix(entries[i].Type, "Task") && !strings.HasPrefix(entries[i].Type, "TaskState") {
			types = append(types, entries[i].Type)
		}
	}
	return strings.Join(types, " ")
}

// A state that waits for a token starts an execution and passes it the token. The state continues when another party
// completes the token, regardless of the execution's end. A state that waits for the execution can also be ended by its
// token.
func TestStartExecutionToken(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{".waitForTaskToken", ".sync"} {
		t.Run(pattern, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				m, err := asl.Parse("outer", []byte(started(pattern, `{"StateMachineArn": "pack", "Input": {"token.$": "$$.Task.Token"}}`, "")))
				if err != nil {
					t.Fatal(err)
				}
				eng := newEngine(t, m.Flow(), append(opts, engine.WithCatalog(machines(t, map[string]string{"pack": lying})))...)
				go func() {
					time.Sleep(time.Minute)
					child, err := eng.Store().Run(t.Context(), "r/Start")
					if err != nil {
						t.Error(err)
						return
					}
					var in struct{ Token string }
					if err := child.Input.Data.Decode(&in); err != nil {
						t.Error(err)
					}
					if _, err := eng.Store().EndToken(t.Context(), in.Token, storage.TokenEnd{Result: atom.FromJSON([]byte(`{"by":"token"}`))}); err != nil {
						t.Error(err)
					}
				}()
				res, err := eng.Run(t.Context(), "r")
				if err != nil || res.Output().String() != `{"by":"token"}` {
					t.Errorf("%v, %v", res, err)
				}
				if events := taskEvents(t, eng.Store()); events != "TaskScheduled TaskStarted TaskSubmitted TaskSucceeded" {
					t.Error(events)
				}
			})
		})
	}
}

// At any point of death, there is one execution, and the run that started it ends with the same history.
func TestStartExecutionCrash(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"", ".sync"} {
		run := func(t *testing.T, death int64) (events string, died bool) {
			t.Helper()
			m, err := asl.Parse("outer", []byte(started(pattern, here, "")))
			if err != nil {
				t.Fatal(err)
			}
			records := memstore.New()
			catalog := machines(t, map[string]string{"pack": packing})
			for {
				ctx, cancel := context.WithCancel(t.Context())
				process := records.Join()
				store := dies(process, forever)
				if store.died = cancel; !died {
					store.left.Store(death)
				}
				eng := newEngine(t, m.Flow(), engine.WithStore(store), engine.WithCatalog(catalog))
				_, err := eng.Run(ctx, "r", engine.Input(atom.FromJSON([]byte(`{"x":2}`))))
				cancel()
				if err := process.Close(); err != nil {
					t.Fatal(err)
				}
				switch {
				case err == nil:
					return taskEvents(t, records), died || store.dead()
				case !errors.Is(err, errDied) && !errors.Is(err, engine.ErrStopped):
					t.Fatal(err)
				}
				died = true
			}
		}
		alone, _ := run(t, 1000)
		for death := int64(0); ; death++ {
			got, died := run(t, death)
			if diff := cmp.Diff(alone, got); diff != "" {
				t.Fatalf("%q, death after %d commits (-alone +died):\n%s", pattern, death, diff)
			}
			if !died {
				break
			}
		}
	}
}

// chosen are tasks that replace runs.
type chosen struct{ *counting }

func (chosen) Instead(task, path string) bool {
	return task == "arn:aws:states:::states:startExecution.sync" && path == "Start"
}

// A user's task for a service replaces the run.
func TestInsteadOfARun(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		m, err := asl.Parse("outer", []byte(started(".sync", `{"n": 6, "StateMachineArn": "pack"}`, "")))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, m.Flow(), append(opts, engine.WithTasks(chosen{&counting{}}))...)
		res, err := eng.Run(t.Context(), "s")
		if err != nil || res.Output().String() != `{"id":"a","n":7}` {
			t.Errorf("%v, %v", res, err)
		}
	})
}
