package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestConformanceASL replays executions recorded on AWS through the engine, in
// virtual time, with the recorded results of their tasks.
func TestConformanceASL(t *testing.T) {
	t.Parallel()
	tally := conformance.NewTally("asl/execution")
	for _, record := range conformance.Executions(t) {
		if record.QueryLanguage != "JSONPath" || !record.Within("lambda", "wait", "parallel") {
			continue
		}
		synctest.Test(t, func(t *testing.T) { tally.Add(record, record.Compare(replay(t, record))) })
	}
	tally.Print(t)
	tally.Demand(t, 0.9, "choice_operators")
}

// replay runs a recorded machine and returns how it ended.
func replay(t *testing.T, record *conformance.Execution) conformance.Outcome {
	t.Helper()
	time.Sleep(time.Until(record.Clock)) // virtual
	machine, err := asl.Parse(record.MachineName, record.Definition)
	if err != nil {
		return refused("definition refused", err)
	}
	eng, err := engine.New(machine.Flow(), engine.WithTasks(&scripted{script: record.Script()}))
	if err != nil {
		return refused("engine refused", err)
	}
	machineARN, executionARN := record.ARN()
	input := record.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if record.Expected.Status == "ABORTED" {
		time.AfterFunc(time.Second, cancel)
	}
	res, err := eng.Run(ctx, record.ExecutionName, engine.Input(atom.FromJSON(input)), engine.Attributes(atom.MustEncode(asl.Attributes{
		ExecutionID: executionARN, ExecutionName: record.ExecutionName, RoleARN: "arn:aws:iam::111111111111:role/any",
		StateMachineID: machineARN, StateMachineName: record.MachineName, Express: record.Type == "EXPRESS",
	})))
	if errors.Is(err, engine.ErrStopped) {
		// There is no cancelling a run yet. Stopping its process is what stands for
		// it here, so such a record agrees at L1 only.
		return conformance.Outcome{Status: "ABORTED"}
	}
	if res == nil {
		return refused("engine failed", err)
	}
	return outcome(t, eng, res)
}

func refused(name string, err error) conformance.Outcome {
	cause := err.Error()
	return conformance.Outcome{Status: "FAILED", Error: &name, Cause: &cause}
}

// outcome reads from the store how a run ended, and its history.
func outcome(t *testing.T, eng *engine.Engine, res *engine.Result) conformance.Outcome {
	t.Helper()
	var out conformance.Outcome
	switch {
	case res.Run.State == states.FlowSuccess:
		out.Status, out.Output = "SUCCEEDED", res.Output().JSON()
	case res.Run.Outcome == storage.TimedOut:
		out.Status = "TIMED_OUT"
	default:
		out.Status = "FAILED"
	}
	if f := res.Run.Failure; f != nil {
		if !f.Bare {
			out.Error = &f.Code
		}
		if f.Message != "" {
			out.Cause = &f.Message
		}
	}
	entries, err := eng.Store().History(t.Context(), res.Run.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind != storage.EntryEvent {
			continue
		}
		details := map[string]any{}
		if err := e.Details.Decode(&details); err != nil {
			t.Fatal(err)
		}
		if e.Key != "" {
			var body any
			if err := e.Body.Data.Decode(&body); err != nil {
				t.Fatal(err)
			}
			details[e.Key] = body
		}
		event := conformance.Event{ID: e.Number, Prev: e.Prev, Type: e.Type, Details: details}
		if e.Path != "" {
			event.State = &e.Path
		}
		out.Events = append(out.Events, event)
	}
	return out
}

// scripted answers tasks as a record says.
type scripted struct {
	mu     sync.Mutex
	script *conformance.Script
}

func (s *scripted) Task(name string) (atom.Body, error) { return &scriptedTask{s, name}, nil }

type scriptedTask struct {
	*scripted
	resource string
}

func (s *scriptedTask) Reverts() bool { return false }
func (s *scriptedTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}

func (s *scriptedTask) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	path := atom.CurrentCall(ctx).Path
	state, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], "#")
	s.mu.Lock()
	answer, ok := s.script.Next(state, s.resource, in.Input().JSON())
	s.mu.Unlock()
	switch {
	case !ok:
		return nil, atom.Errorf("NoAnswer", "the record has no answer left for %s", state)
	case answer.TimedOut, answer.Pending:
		<-ctx.Done()
		return nil, ctx.Err()
	case answer.Failed:
		f := &atom.Failure{Bare: answer.Error == nil}
		if answer.Error != nil {
			f.Code = *answer.Error
		}
		if cause := answer.Text(); cause != nil {
			f.Message = *cause
		}
		return nil, f
	}
	if answer.Seconds > 0 {
		select {
		case <-time.After(time.Duration(answer.Seconds) * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return atom.FromJSON(answer.Output), nil
}
