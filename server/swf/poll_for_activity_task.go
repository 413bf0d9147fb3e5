package swf

import (
	"context"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/aws"
)

type pollActivityInput struct {
	ofDomain

	TaskList swf.TaskList `json:"taskList"`
	Identity string       `json:"identity"`
}

type pollActivityOutput struct {
	Token      string         `json:"taskToken,omitempty"` // clients of AWS test for its absence
	ActivityID string         `json:"activityId,omitempty"`
	Started    int64          `json:"startedEventId"`
	Execution  *swf.Execution `json:"workflowExecution,omitempty"`
	Type       *swf.Type      `json:"activityType,omitempty"`
	Input      *string        `json:"input,omitempty"`
}

func (s *Server) pollForActivityTask(ctx context.Context, caller *aws.Caller, in *pollActivityInput) (
	*pollActivityOutput, error,
) {
	if _, err := s.domain(ctx, in.Domain); err != nil {
		return nil, err
	}
	var task swf.ActivityTask
	taken, err := s.take(ctx, caller, swf.ActivityQueue(in.Domain, in.TaskList.Name), in.Identity, &task)
	if err != nil || taken == nil {
		return &pollActivityOutput{}, err
	}
	_ = server.Found(ctx, false) // without memory, the poller receives a small answer
	out := &pollActivityOutput{
		ActivityID: task.ActivityID, Started: task.StartedEventID, Execution: &task.WorkflowExecution,
		Type: &task.ActivityType,
	}
	if !isNull(taken.Input) {
		err = taken.Input.Decode(&out.Input)
	}
	if err == nil {
		out.Token, err = s.seal(ctx, activityTask, tokenOf(taken))
	}
	return out, err
}
