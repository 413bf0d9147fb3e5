package swf

import (
	"context"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

type pendingInput struct {
	ofDomain

	TaskList swf.TaskList `json:"taskList"`
}

func (s *Server) countPendingDecisionTasks(ctx context.Context, _ *aws.Caller, in *pendingInput) (*countOutput, error) {
	return s.countPending(ctx, in, swf.DecisionQueue)
}

func (s *Server) countPendingActivityTasks(ctx context.Context, _ *aws.Caller, in *pendingInput) (*countOutput, error) {
	return s.countPending(ctx, in, swf.ActivityQueue)
}

func (s *Server) countPending(ctx context.Context, in *pendingInput, queue func(domain, list string) string) (
	*countOutput, error,
) {
	if _, err := s.domain(ctx, in.Domain); err != nil {
		return nil, err
	}
	n, err := s.store.CountQueued(ctx, queue(in.Domain, in.TaskList.Name), maxCount+1)
	return counted(n), err
}
