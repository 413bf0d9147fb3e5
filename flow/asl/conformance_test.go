package asl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceASLLanguage replays recorded executions through the language
// alone, in virtual time.
func TestConformanceASLLanguage(t *testing.T) {
	t.Parallel()
	tally := conformance.NewTally("asl/execution")
	for _, record := range conformance.Executions(t) {
		if need := record.Foreign(); need != "" {
			tally.Apart(need)
			continue
		}
		tally.Add(record, record.Compare(replay(t, record)))
	}
	tally.Print(t)
	tally.Demand(t, 0.9, "choice_operators")
	tally.DemandLevels(t, 0.99, 0.99, 0.97, 0.95, 0.95)
}

// replay runs a recorded machine with the recorded task results.
func replay(t *testing.T, record *conformance.Execution) conformance.Outcome {
	t.Helper()
	machine, err := asl.Parse(record.MachineName, record.Definition)
	if err != nil {
		return failed("definition refused", err.Error())
	}
	machineARN, executionARN := record.ARN()
	script := record.Script()
	s := &simulator{
		lang: machine,
		run: &grow.RunInfo{
			ID: record.ExecutionName, Flow: record.MachineName, Started: record.Clock,
			Attributes: atom.MustEncode(asl.Attributes{
				ExecutionID: executionARN, ExecutionName: record.ExecutionName, RoleARN: "arn:aws:iam::111111111111:role/any",
				StateMachineID: machineARN, StateMachineName: record.MachineName, Express: record.Type == "EXPRESS",
			}),
		},
		task: func(c call) answer {
			state, _, _ := strings.Cut(c.name[strings.LastIndexByte(c.name, '/')+1:], "#")
			a, ok := script.Next(state, c.resource, c.input.JSON())
			if !ok {
				return answer{failure: &atom.Failure{Code: "NoAnswer", Message: "the record has no answer left for " + state}}
			}
			return scripted(a)
		},
	}
	if record.Expected.Status == "ABORTED" {
		s.stopAt = record.Clock.Add(time.Second)
	}
	s.start(string(record.Input))
	if s.fault != nil {
		return failed("contract broken", s.fault.Error())
	}
	return outcome(t, s)
}

func failed(name, cause string) conformance.Outcome {
	return conformance.Outcome{Status: "FAILED", Error: &name, Cause: &cause}
}

func scripted(a conformance.Answer) answer {
	switch {
	case a.TimedOut, a.Pending:
		return answer{never: true}
	case a.Failed:
		f := &atom.Failure{Bare: a.Error == nil}
		if a.Error != nil {
			f.Code = *a.Error
		}
		if cause := a.Text(); cause != nil {
			f.Message = *cause
		}
		return answer{failure: f}
	}
	return answer{output: string(a.Output), after: time.Duration(a.Seconds) * time.Second}
}

// outcome returns how a simulated run ended.
func outcome(t *testing.T, s *simulator) conformance.Outcome {
	t.Helper()
	out := conformance.Outcome{Status: s.status}
	if s.end != nil {
		out.Output = s.end.Value.JSON()
		if f := s.end.Failure; f != nil {
			if !f.Bare {
				out.Error = &f.Code
			}
			if f.Message != "" {
				out.Cause = &f.Message
			}
		}
	}
	for i, e := range s.events {
		details := map[string]any{}
		if err := e.Details.Decode(&details); err != nil {
			t.Fatal(err)
		}
		if e.Key != "" {
			var body any
			if err := json.Unmarshal(e.Body.JSON(), &body); err != nil {
				t.Fatal(err)
			}
			details[e.Key] = body
		}
		event := conformance.Event{ID: int64(i) + 1, Prev: e.Prev, Type: e.Type, Details: details}
		if e.Name != "" {
			event.State = &e.Name
		}
		out.Events = append(out.Events, event)
	}
	return out
}
