package sfn

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/asl/teststate"
	"github.com/ebbflow/ebb/server/aws"
)

type testStateInput struct {
	Definition      string              `json:"definition"`
	RoleARN         *string             `json:"roleArn"`
	Input           *string             `json:"input"`
	InspectionLevel string              `json:"inspectionLevel"`
	RevealSecrets   bool                `json:"revealSecrets"`
	Variables       *string             `json:"variables"`
	StateName       string              `json:"stateName"`
	Mock            *mock               `json:"mock"`
	Context         *string             `json:"context"`
	Configuration   *stateConfiguration `json:"stateConfiguration"`
}

type mock struct {
	Result         *string     `json:"result"`
	ErrorOutput    *mockFailed `json:"errorOutput"`
	ValidationMode string      `json:"fieldValidationMode"`
}

type mockFailed struct {
	Error string `json:"error"`
	Cause string `json:"cause"`
}

type stateConfiguration struct {
	RetryCount    int     `json:"retrierRetryCount"`
	CausedBy      string  `json:"errorCausedByState"`
	FailureCount  *int    `json:"mapIterationFailureCount"`
	ItemsFromRead *string `json:"mapItemReaderData"`
}

// testState runs one state alone.
func (s *Server) testState(ctx context.Context, _ *aws.Caller, in *testStateInput) (*teststate.Response, error) {
	if in.Context != nil && in.Mock == nil { // ebb test-state allows it
		return nil, invalid("", "A Context object can be specified only when a mock is specified.")
	}
	c := in.Configuration
	if c == nil {
		c = &stateConfiguration{}
	}
	if c.FailureCount != nil && in.Mock == nil {
		return nil, invalid("", "mapIterationFailureCount can be specified only when a mock is specified.")
	}
	id := uuid.NewString()
	test := &teststate.Test{
		Definition: []byte(in.Definition), StateName: in.StateName, RevealSecrets: in.RevealSecrets, Now: s.config.Now(),
		Input: jsonOf(in.Input), Variables: jsonOf(in.Variables), Context: jsonOf(in.Context),
		Attributes: asl.Attributes{
			ExecutionID: s.arn("express", "TestState", id, id), ExecutionName: id, StateMachineName: "TestState",
			StateMachineID: s.machineARN("TestState"), Region: s.config.Account.Region,
		},
	}
	refused := ""
	test.Exchange = &teststate.Exchange{}
	ctx = teststate.WithExchange(ctx, test.Exchange)
	if call := s.config.Call; call != nil {
		test.Call = func(resource string, input atom.Value) (atom.Value, *atom.Failure) {
			if !s.mayName(resource) {
				refused = resource
				return atom.Null, nil
			}
			return call(ctx, resource, input)
		}
	}
	if in.RoleARN != nil {
		if err := checkRole(*in.RoleARN); err != nil {
			return nil, err
		}
		test.Attributes.RoleARN = *in.RoleARN
	}
	if m := in.Mock; m != nil {
		test.Mock = &teststate.Mock{
			FieldValidationMode: m.ValidationMode, ErrorOutput: (*teststate.ErrorOutput)(m.ErrorOutput),
		}
		if m.Result != nil {
			test.Mock.Result = []byte(*m.Result)
		}
	}
	test.Configuration = teststate.Configuration{RetrierRetryCount: c.RetryCount, ErrorCausedByState: c.CausedBy}
	if c.FailureCount != nil {
		test.Configuration.MapIterationFailureCount = *c.FailureCount
	}
	if c.ItemsFromRead != nil {
		test.Configuration.MapItemReaderData = []byte(*c.ItemsFromRead)
	}
	result, err := teststate.Run(ctx, test)
	if e, ok := errors.AsType[*teststate.Error](err); ok {
		return nil, aws.Errorf(e.Exception, "%s", e.Message)
	}
	if err != nil {
		return nil, err
	}
	if refused != "" {
		return nil, aws.Errorf("InvalidDefinition", "%s", asl.Refusal([]asl.Finding{asl.Unrecognized(refused, "/Resource")}))
	}
	return result.Response(in.InspectionLevel), nil
}

// jsonOf returns the value of a text that contains JSON; nil if there is no text.
func jsonOf(text *string) atom.Value {
	if text == nil {
		return nil
	}
	return atom.FromJSON([]byte(*text))
}
