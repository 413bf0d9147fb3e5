package swf

import (
	"context"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

// encode returns the body of a call; nil if there is none.
func encode(body any) (atom.Value, error) {
	if body == nil {
		return nil, nil
	}
	return atom.Encode(body)
}

// callInput names the execution that an operation calls. If it names no runId, that is the open execution.
type callInput struct {
	ofDomain

	WorkflowID string `json:"workflowId"`
	RunID      string `json:"runId"`
}

func (in *callInput) execution() swf.Execution {
	return swf.Execution{WorkflowID: in.WorkflowID, RunID: in.RunID}
}

type signalInput struct {
	callInput

	SignalName string  `json:"signalName"`
	Input      *string `json:"input"`
}

func (s *Server) signalWorkflowExecution(ctx context.Context, _ *aws.Caller, in *signalInput) (*empty, error) {
	signal := swf.Signal{SignalName: in.SignalName, Input: in.Input}
	return nil, s.call(ctx, in.Domain, in.execution(), swf.CallSignal, signal)
}

func (s *Server) requestCancelWorkflowExecution(ctx context.Context, _ *aws.Caller, in *callInput) (*empty, error) {
	return nil, s.call(ctx, in.Domain, in.execution(), swf.CallRequestCancel, nil)
}

type terminateInput struct {
	callInput

	Reason      *string `json:"reason"`
	Details     *string `json:"details"`
	ChildPolicy string  `json:"childPolicy"`
}

func (s *Server) terminateWorkflowExecution(ctx context.Context, _ *aws.Caller, in *terminateInput) (*empty, error) {
	return nil, s.call(ctx, in.Domain, in.execution(), swf.CallTerminate, swf.Termination{
		Reason: in.Reason, Details: in.Details, ChildPolicy: in.ChildPolicy,
	})
}
