package sfn

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/server/aws"
)

type describeForExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
	Included     string `json:"includedData"`
}

type describeForExecutionOutput struct {
	described

	ARN       string    `json:"stateMachineArn"`
	Updated   *aws.Time `json:"updateDate"`
	MapRunARN string    `json:"mapRunArn,omitempty"`
	Label     string    `json:"label,omitempty"`
}

// describeForExecution describes the revision of the machine that an execution was started with.
func (s *Server) describeForExecution(ctx context.Context, _ *aws.Caller, in *describeForExecutionInput) (
	*describeForExecutionOutput, error,
) {
	x, err := s.describable(ctx, in.ExecutionARN)
	if err != nil {
		return nil, err
	}
	r := x.revision()
	d, err := s.describe(ctx, x.StateMachineName, &r, in.Included)
	if err != nil {
		return nil, err
	}
	out := &describeForExecutionOutput{
		described: d, ARN: x.StateMachineID, Updated: aws.At(r.Updated), MapRunARN: x.MapRun,
	}
	if x.MapRun != "" {
		_, out.Label, _ = strings.Cut(x.StateMachineName, "/")
	}
	return out, nil
}

// revision returns the revision of the machine that the execution was started with.
func (x *execution) revision() revision {
	r := revision{ID: x.API.Revision, Definition: x.run.Definition, Updated: x.API.Updated}
	if x.API.Settings != nil {
		r.settings = *x.API.Settings
	} else {
		r.settings = defaultSettings(x.RoleARN)
	}
	return r
}
