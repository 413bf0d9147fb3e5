package swf

import (
	"context"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
)

type completedInput struct {
	ofActivity

	Result *string `json:"result"`
}

func (s *Server) respondActivityTaskCompleted(ctx context.Context, _ *aws.Caller, in *completedInput) (*empty, error) {
	t, err := s.open(ctx, activityTask, in.Token)
	if err != nil {
		return nil, err
	}
	_, err = s.runs.CompleteTask(ctx, t.Token, t.Delivery, swf.Text(in.Result))
	return nil, s.taskFault(ctx, activityTask, t, err)
}

type failedInput struct {
	ofActivity

	Reason  *string `json:"reason"`
	Details *string `json:"details"`
}

func (s *Server) respondActivityTaskFailed(ctx context.Context, _ *aws.Caller, in *failedInput) (*empty, error) {
	return nil, s.fail(ctx, in.Token, swf.ActivityFailed(in.Reason, in.Details))
}

type detailsInput struct {
	ofActivity

	Details *string `json:"details"`
}

func (s *Server) respondActivityTaskCanceled(ctx context.Context, _ *aws.Caller, in *detailsInput) (*empty, error) {
	return nil, s.fail(ctx, in.Token, swf.ActivityCanceled(in.Details))
}

// fail ends the activity task that the holder of a token has.
func (s *Server) fail(ctx context.Context, token string, why *atom.Failure) error {
	t, err := s.open(ctx, activityTask, token)
	if err != nil {
		return err
	}
	_, err = s.runs.FailTask(ctx, t.Token, t.Delivery, why)
	return s.taskFault(ctx, activityTask, t, err)
}

type heartbeatOutput struct {
	CancelRequested bool `json:"cancelRequested"`
}

func (s *Server) recordActivityTaskHeartbeat(ctx context.Context, _ *aws.Caller, in *detailsInput) (
	*heartbeatOutput, error,
) {
	t, err := s.open(ctx, activityTask, in.Token)
	if err != nil {
		return nil, err
	}
	cancel, err := s.runs.Heartbeat(ctx, t.Token, t.Delivery, swf.Text(in.Details))
	return &heartbeatOutput{cancel}, s.taskFault(ctx, activityTask, t, err)
}
