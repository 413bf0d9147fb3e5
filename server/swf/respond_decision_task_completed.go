package swf

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/storage"
)

type respondDecisionInput struct {
	Token            string          `json:"taskToken"`
	Decisions        json.RawMessage `json:"decisions"`
	ExecutionContext *string         `json:"executionContext"`
	TaskList         *swf.TaskList   `json:"taskList"`
	ToStart          string          `json:"taskListScheduleToStartTimeout"`
}

func (s *Server) respondDecisionTaskCompleted(ctx context.Context, caller *aws.Caller, in *respondDecisionInput) (
	*empty, error,
) {
	batch, fault := swf.ParseDecisions(in.Decisions)
	if fault != nil {
		return nil, clientFault(fault)
	}
	t, err := s.open(ctx, decisionTask, in.Token)
	if err != nil {
		return nil, err
	}
	c := &swf.Completion{
		Decisions: in.Decisions, ExecutionContext: in.ExecutionContext, TaskList: in.TaskList,
		TaskListScheduleToStartTimeout: in.ToStart,
	}
	if err := s.know(ctx, caller, t, batch, c); err != nil {
		return nil, err
	}
	result, err := atom.Encode(c)
	if err != nil {
		return nil, err
	}
	_, err = s.runs.CompleteTask(ctx, t.Token, t.Delivery, result)
	return nil, s.taskFault(ctx, decisionTask, t, err)
}

// Types of decisions that need more than the batch.
const (
	startChild = "StartChildWorkflowExecution"

	refusedByLimit = "OPEN_WORKFLOWS_LIMIT_EXCEEDED"
	refusedToAll   = "OPERATION_NOT_PERMITTED"
)

// know adds to a completion what the server knows about its decisions: the types that they name, and which decisions it
// refuses.
func (s *Server) know(ctx context.Context, caller *aws.Caller, t *taskToken, batch swf.Batch, c *swf.Completion) error {
	kinds := batch.Types()
	if len(kinds) == 0 {
		return nil
	}
	run, err := s.store.Run(ctx, t.Run)
	if errors.Is(err, storage.ErrNotFound) {
		return s.taskFault(ctx, decisionTask, t, err)
	}
	if err != nil {
		return err
	}
	x, ok := executionOf(&run)
	if !ok {
		return s.taskFault(ctx, decisionTask, t, storage.ErrNotFound)
	}
	d, err := s.domain(ctx, x.Domain)
	if err != nil {
		return err
	}
	if err := s.knowTypes(ctx, d, x, batch, c); err != nil {
		return err
	}
	c.Refusals = map[int]string{}
	for i, kind := range kinds {
		if !s.permits(caller, kind, x.Domain) {
			c.Refusals[i] = refusedToAll
		}
	}
	if !slices.Contains(kinds, startChild) {
		return nil
	}
	for i, kind := range kinds {
		if kind != startChild || c.Refusals[i] != "" {
			continue
		}
		switch err := s.admit(ctx, d, 1); {
		case isFault(err, limitExceeded):
			c.Refusals[i] = refusedByLimit
		case err != nil:
			return err
		}
	}
	return nil
}

// knowTypes adds the types that decisions name, as far as they exist.
func (s *Server) knowTypes(ctx context.Context, d *domain, x *execution, batch swf.Batch, c *swf.Completion) error {
	for _, t := range batch.ActivityTypes() {
		known := swf.KnownActivityType{Type: t}
		exists, err := s.known(ctx, activityTypes, d, t, &known.Deprecated, &known.Defaults)
		if err != nil {
			return err
		}
		if exists {
			c.ActivityTypes = append(c.ActivityTypes, known)
		}
	}
	for _, t := range batch.WorkflowTypes(x.Type) {
		known := swf.KnownWorkflowType{Type: t}
		exists, err := s.known(ctx, workflowTypes, d, t, &known.Deprecated, &known.Defaults)
		if err != nil {
			return err
		}
		if exists {
			c.WorkflowTypes = append(c.WorkflowTypes, known)
		}
	}
	return nil
}

// known reports whether a type exists, and reads whether it is deprecated, and its defaults.
func (s *Server) known(ctx context.Context, k *typeKind, d *domain, t swf.Type, old *bool, defaults any) (bool, error) {
	r, err := s.registration(ctx, k, d, t)
	if isFault(err, unknownResource) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	*old = r.status() == deprecated
	return true, json.Unmarshal(r.Defaults, defaults)
}
