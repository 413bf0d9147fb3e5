package engine_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestConformanceASL replays executions recorded on AWS through the engine, in virtual time, with the recorded results
// of their tasks. Executions that need a service other than Lambda and S3 are counted apart. Distributed Maps are also
// counted by themselves.
func TestConformanceASL(t *testing.T) {
	t.Parallel()
	counted, others := conformance.NewTally("asl/execution"), conformance.NewTally("asl/execution other services")
	maps := conformance.NewTally("asl/execution distributed Map")
	for _, record := range conformance.Executions(t) {
		tallies := []*conformance.Tally{others}
		if record.WithoutServices("lambda", "s3", "aws-sdk:s3") {
			tallies[0] = counted
		}
		if record.Foreign() == "distributed_map" {
			tallies = append(tallies, maps)
		}
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(record.Clock)) // virtual
			report := record.Compare(replay(t, record, record.ExecutionName, memstore.New()))
			for _, tally := range tallies {
				tally.Add(record, report)
			}
		})
	}
	counted.Print(t)
	maps.Print(t)
	others.Print(t)
	counted.Demand(t, 0, "choice_operators")
	counted.DemandLevels(t, 0.99, 0.99, 0.97, 0.95, 0.95)
}

// replay runs a recorded machine, under an id, and returns how it ended.
func replay(t *testing.T, record *conformance.Execution, id string, store backend.Store) conformance.Outcome {
	t.Helper()
	machine, err := asl.Parse(record.MachineName, record.Definition)
	if err != nil {
		return refused("definition refused", err)
	}
	world := newSurroundings(t, record)
	eng, err := engine.New(machine.Flow(), store, engine.WithTasks(world))
	if err != nil {
		return refused("engine refused", err)
	}
	world.store = store
	world.hire()
	defer world.dismiss()
	machineARN, executionARN := record.ARN()
	input := record.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	if record.Expected.Status == "ABORTED" {
		world.later(func() {
			_ = engine.Send(t.Context(), store, id, engine.CancelWith(&atom.Failure{Code: atom.CodeCancelled, Bare: true}))
		})
	}
	res, err := eng.Run(t.Context(), id, engine.Input(atom.FromJSON(input)), engine.Attributes(atom.MustEncode(asl.Attributes{
		ExecutionID: executionARN, ExecutionName: record.ExecutionName, RoleARN: "arn:aws:iam::111111111111:role/any",
		StateMachineID: machineARN, StateMachineName: record.MachineName, Express: record.Type == "EXPRESS",
	})))
	if res == nil {
		return refused("engine failed", err)
	}
	return outcome(t, eng, res)
}

func refused(name string, err error) conformance.Outcome {
	cause := err.Error()
	if problems, ok := errors.AsType[flow.Diagnostics](err); ok {
		cause = problems[0].String()
	}
	return conformance.Outcome{Status: "FAILED", Error: &name, Cause: &cause}
}

// outcome reads from the store how a run ended, with its history.
func outcome(t *testing.T, eng *engine.Engine, res *engine.Result) conformance.Outcome {
	t.Helper()
	var out conformance.Outcome
	switch {
	case res.Run.State == states.FlowSuccess:
		out.Status, out.Output = "SUCCEEDED", res.Output().JSON()
	case res.Run.Outcome == storage.TimedOut:
		out.Status = "TIMED_OUT"
	case res.Run.Outcome == storage.Cancelled:
		out.Status = "ABORTED"
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
