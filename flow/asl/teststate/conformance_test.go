package teststate_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/teststate"
	"github.com/ebbflow/ebb/internal/conformance"
)

// TestConformanceASLTestState tests single states as they were tested on AWS.
func TestConformanceASLTestState(t *testing.T) {
	t.Parallel()
	aspects := conformance.NewAspects("asl/teststate")
	for _, record := range conformance.StateTests(t) {
		aspects.Count("response", record.Name, record.Compare(tested(t, record)))
	}
	aspects.Print(t)
	aspects.Demand(t, "response", 0.98)
}

func tested(t *testing.T, record *conformance.StateTest) *conformance.StateTestOutcome {
	t.Helper()
	p := &record.Params
	value := func(text *string) atom.Value {
		if text == nil {
			return nil
		}
		return atom.FromJSON([]byte(*text))
	}
	test := &teststate.Test{
		Definition: []byte(p.Definition), StateName: p.StateName, RevealSecrets: p.RevealSecrets, Now: epoch,
		Input: value(p.Input), Variables: value(p.Variables), Context: value(p.Context),
		Attributes: asl.Attributes{
			ExecutionID:   "arn:aws:states:us-east-1:111111111111:express:TestState:u",
			ExecutionName: "u", RoleARN: p.RoleARN, StateMachineID: "arn:aws:states:us-east-1:111111111111:stateMachine:TestState",
		},
		Configuration: teststate.Configuration{
			RetrierRetryCount: p.StateConfiguration.RetrierRetryCount, ErrorCausedByState: p.StateConfiguration.ErrorCausedByState,
			MapIterationFailureCount: p.StateConfiguration.MapIterationFailureCount,
		},
		Call: func(string, atom.Value) (atom.Value, *atom.Failure) {
			a := record.Answer()
			return atom.FromJSON(a.Output), failureOf(&a)
		},
	}
	if items := p.StateConfiguration.MapItemReaderData; items != nil {
		test.Configuration.MapItemReaderData = []byte(*items)
	}
	if p.Mock != nil {
		test.Mock = &teststate.Mock{FieldValidationMode: p.Mock.FieldValidationMode, ErrorOutput: (*teststate.ErrorOutput)(p.Mock.ErrorOutput)}
		if p.Mock.Result != nil {
			test.Mock.Result = []byte(*p.Mock.Result)
		}
	}
	result, err := teststate.Run(t.Context(), test)
	if refused, ok := errors.AsType[*teststate.Error](err); ok {
		return &conformance.StateTestOutcome{Refused: refused.Exception, Message: refused.Message}
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result.Response(p.InspectionLevel))
	if err != nil {
		t.Fatal(err)
	}
	return conformance.ReadStateTestOutcome(t, text)
}

// epoch is when tested states are entered.
var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// failureOf returns how a recorded call has failed, nil if it has not.
func failureOf(a *conformance.Answer) *atom.Failure {
	if !a.Failed {
		return nil
	}
	f := &atom.Failure{Bare: a.Error == nil}
	if a.Error != nil {
		f.Code = *a.Error
	}
	if cause := a.Text(); cause != nil {
		f.Message = *cause
	}
	return f
}
