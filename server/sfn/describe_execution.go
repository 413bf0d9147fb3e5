package sfn

import (
	"context"

	"github.com/ebbflow/ebb/server/aws"
)

type describeExecutionInput struct {
	ExecutionARN string `json:"executionArn"`
	IncludedData string `json:"includedData"`
}

// A describedExecution is an execution without its data.
type describedExecution struct {
	ExecutionARN string    `json:"executionArn"`
	MachineARN   string    `json:"stateMachineArn"`
	Name         string    `json:"name"`
	Status       string    `json:"status"`
	Started      *aws.Time `json:"startDate"`
	Stopped      *aws.Time `json:"stopDate,omitempty"`
	MapRunARN    string    `json:"mapRunArn,omitempty"`
	Version      string    `json:"stateMachineVersionArn,omitempty"`
	Alias        string    `json:"stateMachineAliasArn,omitempty"`
	Redrives     *int64    `json:"redriveCount,omitempty"` // nil for an Express execution
	Redriven     *aws.Time `json:"redriveDate,omitempty"`
}

// describe returns what lists and descriptions report of an execution.
func (x *execution) describe() describedExecution {
	d := describedExecution{
		ExecutionARN: x.ExecutionID, MachineARN: x.StateMachineID, Name: x.ExecutionName, Status: statusOf(x.run),
		Started: aws.At(x.run.Created), Stopped: x.stopped(), MapRunARN: x.MapRun, Version: x.API.Version,
		Alias: x.API.Alias, Redriven: x.redriven(),
	}
	if !x.Express {
		redrives := x.redrives()
		d.Redrives = &redrives
	}
	return d
}

// executionData are the data of an execution.
type executionData struct {
	Input         *string   `json:"input,omitempty"`
	InputDetails  *included `json:"inputDetails,omitempty"`
	Output        *string   `json:"output,omitempty"`
	OutputDetails *included `json:"outputDetails,omitempty"`
	Error         *string   `json:"error,omitempty"`
	Cause         *string   `json:"cause,omitempty"`
}

// included says that data are in the answer. Ebb never leaves out parts of them.
type included struct {
	Included bool `json:"included"`
}

// data returns the data of an execution; none if the client asks for metadata only.
func (x *execution) data(asked string) executionData {
	var d executionData
	if asked == metadataOnly {
		return d
	}
	d.Error, d.Cause = x.failure()
	input := x.run.Input.Data.String()
	d.Input, d.InputDetails = &input, &included{true}
	if statusOf(x.run) == statusSucceeded {
		output := x.run.Output.Data.String()
		d.Output, d.OutputDetails = &output, &included{true}
	}
	return d
}

type describeExecutionOutput struct {
	describedExecution
	executionData

	Trace         string `json:"traceHeader,omitempty"`
	RedriveStatus string `json:"redriveStatus,omitempty"`
	RedriveReason string `json:"redriveStatusReason,omitempty"`
}

func (s *Server) describeExecution(ctx context.Context, _ *aws.Caller, in *describeExecutionInput,
) (*describeExecutionOutput, error) {
	x, err := s.describable(ctx, in.ExecutionARN)
	if err != nil {
		return nil, err
	}
	out := &describeExecutionOutput{
		describedExecution: x.describe(), executionData: x.data(in.IncludedData), Trace: x.API.Trace,
	}
	if x.MapRun != "" {
		if out.Status, err = s.statusInMapRun(ctx, x); err != nil {
			return nil, err
		}
	}
	if !x.Express {
		out.RedriveStatus, out.RedriveReason, err = s.redrivable(ctx, x)
	}
	return out, err
}

// describable returns an execution that can be described: a Standard one, or one of a distributed Map's items.
func (s *Server) describable(ctx context.Context, arn string) (*execution, error) {
	x, err := s.execution(ctx, arn, executionType, expressType)
	if err != nil {
		if a, _ := s.address(arn, expressType); a != nil && a.label == "" {
			return nil, badType(expressType)
		}
		return nil, err
	}
	if x.Express && x.MapRun == "" {
		return nil, badType(expressType)
	}
	return x, nil
}

// badType is the error for an ARN of a type that an operation does not accept.
func badType(kind string) error {
	return aws.Errorf("InvalidArn", "Invalid Arn: 'Resource type not valid in this context: %s'", kind)
}
