package swf

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// An execution is a run of the flow of package flow/swf.
type execution struct {
	swf.Start

	run *storage.Run
}

// executionOf returns the execution whose run it is; false for another run.
func executionOf(run *storage.Run) (*execution, bool) {
	x := &execution{run: run}
	if run.Flow != swf.FlowName {
		return x, false
	}
	err := run.Attrs.Decode(&x.Start) // another program may have a flow of this name
	return x, err == nil && x.WorkflowID != ""
}

// is returns the ids of the execution.
func (x *execution) is() swf.Execution {
	return swf.Execution{WorkflowID: x.WorkflowID, RunID: x.run.ID}
}

// execution returns an execution that is open, or closed and retained, or AWS's fault.
func (s *Server) execution(ctx context.Context, domainName string, of swf.Execution) (*execution, error) {
	d, err := s.domain(ctx, domainName)
	if err != nil {
		return nil, err
	}
	x, err := s.executionIn(ctx, d, of)
	if err == nil && s.isOver(d, x.run) {
		err = unknownExecution(of)
	}
	return x, err
}

// executionIn returns an execution of a domain.
func (s *Server) executionIn(ctx context.Context, d *domain, of swf.Execution) (*execution, error) {
	run, err := s.store.Run(ctx, of.RunID)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		return nil, unknownExecution(of)
	}
	if err != nil {
		return nil, err
	}
	x, ok := executionOf(&run)
	if !ok || x.Domain != d.Name || x.WorkflowID != of.WorkflowID {
		return nil, unknownExecution(of)
	}
	return x, nil
}

// isOver reports whether the retention period of a closed execution is over.
func (s *Server) isOver(d *domain, run *storage.Run) bool {
	return run.State.Ended() && !s.config.Now().Before(run.Ended.Add(d.retention()))
}

func unknownExecution(of swf.Execution) error {
	if of.RunID == "" {
		return aws.Errorf(unknownResource, "Unknown execution, workflowId = %s", of.WorkflowID)
	}
	return aws.Errorf(unknownResource, "Unknown execution: WorkflowExecution=[workflowId=%s, runId=%s]",
		of.WorkflowID, of.RunID)
}

// maxSuccessors bounds how often a call follows an execution that closes and continues as another one.
const maxSuccessors = 20

// call calls the run of an open execution. Without a runId, it is the open execution with the workflowId.
func (s *Server) call(ctx context.Context, domainName string, of swf.Execution, name string, body any) error {
	d, err := s.domain(ctx, domainName)
	if err != nil {
		return err
	}
	encoded, err := encode(body)
	if err != nil {
		return err
	}
	for range maxSuccessors {
		run, err := s.openRun(ctx, d, of)
		if err != nil {
			return err
		}
		_, err = s.runs.Call(ctx, run, name, encoded)
		switch {
		case isOf(err, engine.ErrEnded, storage.ErrNotFound) && of.RunID == "":
			continue // another run may have the workflowId now
		case isOf(err, engine.ErrEnded, storage.ErrNotFound):
			return unknownExecution(of)
		}
		return faultOf(err)
	}
	return unknownExecution(of)
}

// openRun returns the id of the run of an open execution, or AWS's fault.
func (s *Server) openRun(ctx context.Context, d *domain, of swf.Execution) (string, error) {
	if of.RunID != "" {
		x, err := s.executionIn(ctx, d, of)
		if err == nil && x.run.State.Ended() {
			err = unknownExecution(of)
		}
		return of.RunID, err
	}
	run, err := s.openByID(ctx, d, of.WorkflowID)
	if errors.Is(err, storage.ErrNotFound) {
		err = unknownExecution(of)
	}
	return run, err
}

// openByID returns the id of the run of the open execution with a workflowId, or [storage.ErrNotFound].
func (s *Server) openByID(ctx context.Context, d *domain, workflowID string) (string, error) {
	if swf.IsUndo(workflowID) {
		return s.openUndo(ctx, d, workflowID)
	}
	return s.store.OpenRun(ctx, swf.Key(d.Name, workflowID))
}

func isOf(err error, these ...error) bool {
	for _, one := range these {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// faultOf returns what a client receives for an error of a call to a run.
func faultOf(err error) error {
	if refused, ok := errors.AsType[*engine.RefusedCall](err); ok {
		var fault swf.Fault
		if err := refused.Value.Decode(&fault); err != nil {
			return err
		}
		return clientFault(&fault)
	}
	if errors.Is(err, engine.ErrSuspended) {
		return aws.Errorf(throttling, "An operator has suspended the execution.")
	}
	return err
}

// clientFault returns a fault of the model as the client receives it.
func clientFault(fault *swf.Fault) error {
	switch fault.Type {
	case swf.FaultValidation:
		return aws.Errorf(validationException, "%s", fault.Message)
	case swf.FaultSerialization:
		return aws.Errorf(serializationFailure, "%s", fault.Message)
	}
	return aws.Errorf(fault.Type, "%s", fault.Message)
}

// OpenStates returns the states of runs of open executions.
func OpenStates() []states.Flow { return slices.Clone(openStates) }

// ClosedStates returns the states of runs of closed executions.
func ClosedStates() []states.Flow { return slices.Clone(closedStates) }

// openStates are the states of runs of open executions.
var openStates = []states.Flow{
	states.FlowPending, states.FlowRunning, states.FlowSuspending, states.FlowSuspended, states.FlowResuming,
}

// closedStates are the states of runs of closed executions.
var closedStates = []states.Flow{states.FlowSuccess, states.FlowFailure, states.FlowReverted}
