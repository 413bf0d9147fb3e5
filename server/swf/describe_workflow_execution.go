package swf

import (
	"context"

	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type executionInput struct {
	ofDomain

	Execution swf.Execution `json:"execution"`
}

type describeExecutionOutput struct {
	Info           executionInfo     `json:"executionInfo"`
	Configuration  swf.Configuration `json:"executionConfiguration"`
	OpenCounts     swf.OpenCounts    `json:"openCounts"`
	LatestActivity *aws.Time         `json:"latestActivityTaskTimestamp,omitempty"`
	LatestContext  *string           `json:"latestExecutionContext,omitempty"`
}

func (s *Server) describeWorkflowExecution(ctx context.Context, _ *aws.Caller, in *executionInput) (
	*describeExecutionOutput, error,
) {
	x, err := s.execution(ctx, in.Domain, in.Execution)
	if err != nil {
		return nil, err
	}
	out := &describeExecutionOutput{Info: x.info(), Configuration: x.Configuration}
	if x.run.Memory == nil {
		return out, nil
	}
	d, err := swf.Describe(x.run.Memory)
	if err != nil {
		return nil, err
	}
	if out.OpenCounts = d.OpenCounts; x.run.State.Ended() {
		out.OpenCounts = swf.OpenCounts{OpenActivityTasks: d.OpenCounts.OpenActivityTasks}
	}
	out.LatestActivity = aws.At(d.LatestActivityTaskTimestamp)
	out.LatestContext, err = s.latestContext(ctx, x, d.LatestContextEvent)
	return out, err
}

// latestContext returns the execution context that an event has; nil if there is no such event.
func (s *Server) latestContext(ctx context.Context, x *execution, event int64) (*string, error) {
	if event == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	entries, err := s.store.Events(ctx, x.run.ID, storage.EventQuery{After: event - 1, Limit: 1})
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	var attributes struct {
		Context *string `json:"executionContext"`
	}
	text, err := attributesOf(&entries[0])
	if err != nil {
		return nil, err
	}
	err = text.Decode(&attributes)
	return attributes.Context, err
}
