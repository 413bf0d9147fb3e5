package swf

import (
	"context"
	"encoding/json"

	"github.com/ebbflow/ebb/server/aws"
)

type historyInput struct {
	paging
	executionInput
}

type historyOutput struct {
	Events    []json.RawMessage `json:"events"`
	NextToken string            `json:"nextPageToken,omitempty"`
}

func (s *Server) getWorkflowExecutionHistory(ctx context.Context, caller *aws.Caller, in *historyInput) (
	*historyOutput, error,
) {
	x, err := s.execution(ctx, in.Domain, in.Execution)
	if err != nil {
		return nil, err
	}
	p := in.page("GetWorkflowExecutionHistory", caller, in.Domain, in.Execution.WorkflowID, in.Execution.RunID)
	var after int64
	if err := s.records.Numbers(ctx, p, &after); err != nil {
		return nil, err
	}
	part := historyPart{run: x.run, first: 1, last: x.run.Events, reverse: in.Reverse}
	out := &historyOutput{}
	var more bool
	out.Events, after, more, err = part.read(ctx, s.store, after, p.Most())
	if err == nil && more {
		out.NextToken, err = s.records.NextNumbers(ctx, p, after)
	}
	return out, err
}
