package swf

import (
	"cmp"
	"context"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
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
	below, err := s.below(ctx, in)
	if err != nil {
		return nil, err
	}
	err = s.call(ctx, in.Domain, in.execution(), swf.CallTerminate, swf.Termination{
		Reason: in.Reason, Details: in.Details, ChildPolicy: in.ChildPolicy,
	})
	if err == nil {
		s.descend(ctx, below)
	}
	return nil, err
}

// below returns the open children of an execution that its termination terminates.
func (s *Server) below(ctx context.Context, in *terminateInput) ([]*execution, error) {
	d, err := s.domain(ctx, in.Domain)
	if err != nil {
		return nil, err
	}
	run, err := s.openRun(ctx, d, in.execution())
	if err != nil {
		return nil, err
	}
	x, err := s.executionIn(ctx, d, swf.Execution{WorkflowID: in.WorkflowID, RunID: run})
	if err != nil || cmp.Or(in.ChildPolicy, x.ChildPolicy) != swf.PolicyTerminate {
		return nil, err
	}
	return s.children(ctx, run)
}

// children returns the executions that an open execution has started and that may be open.
func (s *Server) children(ctx context.Context, run string) (all []*execution, err error) {
	atoms, err := s.store.Atoms(ctx, run, storage.AtomQuery{Live: true})
	for i := range atoms {
		var spec flow.Spec
		if atoms[i].Kind == storage.KindRun && atoms[i].Spec.Decode(&spec) == nil && spec.Child != nil {
			if x, is := executionOf(&storage.Run{ID: spec.Child.ID, Flow: spec.Child.Flow, Attrs: spec.Child.Attributes}); is {
				all = append(all, x)
			}
		}
	}
	return all, err
}

// descend terminates executions whose parents are being terminated, and those below them, as their policies say:
// parents before children. Each of them does so in its turn, too. If they did it only then, the lowest ones would start
// further ones meanwhile, and faster.
func (s *Server) descend(ctx context.Context, level []*execution) {
	const batch = 200
	for len(level) > 0 && ctx.Err() == nil {
		var next []*execution
		for part := range slices.Chunk(level, batch) {
			messages := make([]storage.Message, 0, len(part))
			for _, x := range part {
				m := x.ChildTermination()
				messages = append(messages, storage.Message{
					Run: x.run.ID, From: x.Parent.RunID, Kind: m.Kind, Name: m.Name, Body: m.Body,
				})
			}
			if s.store.Send(ctx, messages...) != nil { // one of them is gone
				for i := range messages {
					_ = s.store.Send(ctx, messages[i]) // its parent does it, too
				}
			}
			for _, x := range part {
				if x.ChildPolicy == swf.PolicyTerminate {
					below, _ := s.children(ctx, x.run.ID) // as above
					next = append(next, below...)
				}
			}
		}
		level = next
	}
}
