package sfn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type stopExecutionInput struct {
	ExecutionARN string  `json:"executionArn"`
	Error        *string `json:"error"`
	Cause        string  `json:"cause"`
}

type stopExecutionOutput struct {
	Stopped *aws.Time `json:"stopDate"`
}

// stopTime is how long StopExecution waits for the end of the execution. The request to stop it is durable before.
const stopTime = 5 * time.Second

// stopExecution cancels the run. If states of the machine have a Revert, the run is undone before it ends.
func (s *Server) stopExecution(ctx context.Context, _ *aws.Caller, in *stopExecutionInput) (
	*stopExecutionOutput, error,
) {
	x, err := s.execution(ctx, in.ExecutionARN, executionType)
	if err != nil {
		return nil, err
	}
	run := *x.run
	if !run.State.Ended() {
		why := &atom.Failure{Code: atom.CodeCancelled, Message: in.Cause, Bare: in.Error == nil}
		if in.Error != nil {
			why.Code = cmp.Or(*in.Error, atom.CodeCancelled)
		}
		err := engine.Send(ctx, s.store, run.ID, engine.CancelLive(why))
		if errors.Is(err, storage.ErrNotFound) {
			return nil, noExecution(in.ExecutionARN)
		}
		if err != nil {
			return nil, err
		}
		if stopped, err := s.ended(ctx, run.ID, stopTime); err == nil {
			run = stopped
		}
	}
	if !run.State.Ended() {
		return &stopExecutionOutput{aws.At(s.config.Now())}, nil
	}
	return &stopExecutionOutput{aws.At(run.Ended)}, nil
}

// ended waits until a run has ended, or until the time is over, and returns the run.
func (s *Server) ended(ctx context.Context, id string, within time.Duration) (storage.Run, error) {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	run, err := engine.Await(bounded, s.store, id)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return s.store.Run(ctx, id)
	}
	return run, err
}
