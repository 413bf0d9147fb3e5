package sfn

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/server/aws"
)

type startSyncExecutionInput struct {
	startExecutionInput

	IncludedData string `json:"includedData"`
}

type startSyncExecutionOutput struct {
	executionData

	ExecutionARN string    `json:"executionArn"`
	MachineARN   string    `json:"stateMachineArn"`
	Name         string    `json:"name"`
	Started      *aws.Time `json:"startDate"`
	Stopped      *aws.Time `json:"stopDate"`
	Status       string    `json:"status"`
	Trace        string    `json:"traceHeader,omitempty"`
	Billing      billing   `json:"billingDetails"`
}

// A billing is what AWS would bill for an execution: the duration in steps, and the least memory, for Ebb does not
// measure the memory of one execution.
type billing struct {
	Duration int64 `json:"billedDurationInMilliseconds"`
	Memory   int64 `json:"billedMemoryUsedInMB"`
}

const (
	billedStep   = 100 // milliseconds
	billedMemory = 64  // MB
	// longestSync is how long StartSyncExecution waits: the time of an Express execution, and of the commit of its end.
	longestSync = 5*time.Minute + 10*time.Second
)

func billed(d time.Duration) billing {
	steps := (d.Milliseconds() + billedStep - 1) / billedStep
	return billing{Duration: max(1, steps) * billedStep, Memory: billedMemory}
}

func (s *Server) startSyncExecution(ctx context.Context, _ *aws.Caller, in *startSyncExecutionInput,
) (*startSyncExecutionOutput, error) {
	r, err := s.request(&in.startExecutionInput)
	if err != nil {
		return nil, err
	}
	r.sync = true
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	run, err := s.ended(ctx, s.runID(r.execution.ExecutionID), longestSync)
	if err != nil {
		return nil, err
	}
	x := r.execution
	x.run = &run
	out := &startSyncExecutionOutput{
		executionData: x.data(in.IncludedData), ExecutionARN: x.ExecutionID, MachineARN: x.StateMachineID,
		Name: x.ExecutionName, Started: aws.At(r.started), Stopped: aws.At(run.Ended), Status: statusOf(&run),
		Trace: r.trace, Billing: billed(run.Ended.Sub(r.started)),
	}
	return out, nil
}
