package swf

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/internal/records"
	"github.com/ebbflow/ebb/storage"
)

type startInput struct {
	swf.Configuration

	ofDomain

	WorkflowID string   `json:"workflowId"`
	Type       swf.Type `json:"workflowType"`
	Input      *string  `json:"input"`
	TagList    []string `json:"tagList"`
}

type startOutput struct {
	RunID string `json:"runId"`
}

func (s *Server) startWorkflowExecution(ctx context.Context, _ *aws.Caller, in *startInput) (*startOutput, error) {
	id := swf.RunID(rand.Uint64) // a runId is not secret
	err := records.Retried(ctx, func() error {
		d, err := s.usable(ctx, in.Domain)
		if err != nil {
			return err
		}
		r, err := s.registration(ctx, workflowTypes, d, in.Type)
		if err != nil {
			return err
		}
		if r.status() == deprecated {
			return aws.Errorf(typeDeprecated, "%s", workflowTypes.is(in.Type))
		}
		start := swf.Start{
			Domain: in.Domain, WorkflowID: in.WorkflowID, Type: in.Type, Configuration: in.Configuration, TagList: in.TagList,
		}
		var defaults swf.WorkflowDefaults
		if err := json.Unmarshal(r.Defaults, &defaults); err != nil {
			return err
		}
		if undefined := start.Complete(&defaults); undefined != "" {
			return aws.Errorf(defaultUndefined, "%s", undefined)
		}
		if err := s.admit(ctx, d, 1); err != nil {
			return err
		}
		return s.start(ctx, id, &start, in.Input, d.unchanged(), r.unchanged())
	})
	if err != nil {
		return nil, err
	}
	s.begun(ctx, id)
	return &startOutput{id}, nil
}

const (
	// beginTime is how long an answer waits for the first events of an execution, which is durable before.
	beginTime = 5 * time.Second
	// beginPause is how long the server waits before it looks again.
	beginPause = 10 * time.Millisecond
)

// begun waits until an execution has its first events. It has them already, unless this process is not driving runs
// yet, or drives as many as it can.
func (s *Server) begun(ctx context.Context, id string) {
	pause := time.NewTicker(beginPause)
	defer pause.Stop()
	for end := time.Now().Add(beginTime); ; {
		run, err := s.store.Run(ctx, id)
		if err != nil || run.Events > 0 || time.Now().After(end) {
			return // or it has closed, and is not retained
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// start starts an execution, unless one with the workflowId is open.
func (s *Server) start(ctx context.Context, id string, start *swf.Start, input *string,
	on ...storage.RecordCheck,
) error {
	child := start.Run(id, input)
	opts := []engine.RunOption{
		engine.Input(child.Input), engine.Attributes(child.Attributes), engine.Labels(child.Labels),
		engine.Key(swf.Key(start.Domain, start.WorkflowID)), engine.Unchanged(on...),
	}
	err := s.runs.Start(ctx, id, conductor.Ref{Flow: swf.FlowName}, opts...)
	if errors.Is(err, storage.ErrUnsure) && ctx.Err() == nil {
		err = s.runs.Start(ctx, id, conductor.Ref{Flow: swf.FlowName}, opts...)
	}
	taken, isTaken := errors.AsType[*storage.KeyTakenError](err)
	switch {
	case errors.Is(err, storage.ErrExists), isTaken && taken.Run == id:
		return nil // the first try has started it
	case isTaken:
		return aws.Errorf(alreadyStarted, "Already Started")
	}
	return err
}
