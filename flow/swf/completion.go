package swf

import (
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/swf/internal/decision"
)

// A Completion is the result of a decision task: the request of RespondDecisionTaskCompleted, and what the server knows
// about the types that its decisions name.
type Completion struct {
	Decisions                      json.RawMessage `json:"decisions,omitempty"` // as they came on the wire
	ExecutionContext               *string         `json:"executionContext,omitempty"`
	TaskList                       *TaskList       `json:"taskList,omitempty"` // the list of later decision tasks
	TaskListScheduleToStartTimeout string          `json:"taskListScheduleToStartTimeout,omitempty"`
	// ActivityTypes and WorkflowTypes are those of [Batch.ActivityTypes] and [Batch.WorkflowTypes] that exist.
	ActivityTypes []KnownActivityType `json:"activityTypes,omitempty"`
	WorkflowTypes []KnownWorkflowType `json:"workflowTypes,omitempty"`
	// Refusals makes decisions fail, by their index from 0, with a cause that the service defines for them, such as
	// OPERATION_NOT_PERMITTED.
	Refusals map[int]string `json:"refusals,omitempty"`
}

// A KnownActivityType is a registered activity type.
type KnownActivityType struct {
	Type       Type             `json:"type"`
	Deprecated bool             `json:"deprecated,omitempty"`
	Defaults   ActivityDefaults `json:"defaults"`
}

// A KnownWorkflowType is a registered workflow type.
type KnownWorkflowType struct {
	Type       Type             `json:"type"`
	Deprecated bool             `json:"deprecated,omitempty"`
	Defaults   WorkflowDefaults `json:"defaults"`
}

// A Batch is the decisions of one [Completion], after they were checked as a whole.
type Batch struct{ decisions []decision.Decision }

// ParseDecisions reads and validates the member "decisions" of a request, as it came; nil is an empty batch. The fault
// names everything that is not valid, and has the words of the service. It is nil if the batch is valid.
func ParseDecisions(wire json.RawMessage) (Batch, *Fault) {
	all, err := decision.Parse(wire)
	var shape *decision.ShapeError
	switch {
	case errors.As(err, &shape):
		return Batch{}, &Fault{FaultSerialization, err.Error()}
	case err != nil:
		return Batch{}, &Fault{FaultValidation, err.Error()}
	}
	return Batch{all}, nil
}

// Types returns the type of each decision, in order.
func (b Batch) Types() []string {
	var types []string
	for _, d := range b.decisions {
		types = append(types, d.Type)
	}
	return types
}

// ActivityTypes returns the activity types that the batch names.
func (b Batch) ActivityTypes() []Type {
	var types []Type
	for _, d := range b.decisions {
		if d.Type == decision.ScheduleActivityTask {
			types = appendType(types, typeOf(&d, "activityType"))
		}
	}
	return types
}

// WorkflowTypes returns the workflow types that the batch names. own is the type of the execution, which may continue
// as another version of it.
func (b Batch) WorkflowTypes(own Type) []Type {
	var types []Type
	for _, d := range b.decisions {
		switch d.Type {
		case decision.StartChild:
			types = appendType(types, typeOf(&d, "workflowType"))
		case decision.ContinueAsNew:
			types = appendType(types, successorType(&d, own))
		}
	}
	return types
}

func typeOf(d *decision.Decision, member string) Type { return Type{d.Name(member), d.Version(member)} }

// successorType returns the type of the execution as which one of type own continues.
func successorType(d *decision.Decision, own Type) Type {
	if version := d.Text("workflowTypeVersion"); version != "" {
		own.Version = version
	}
	return own
}

func appendType(types []Type, t Type) []Type {
	if slices.Contains(types, t) {
		return types
	}
	return append(types, t)
}

// Length returns the length of a text as the service counts it for its limits: in code points.
func Length(s string) int { return utf8.RuneCountInString(s) }

// IsName reports whether a text may be the name of a domain, type or task list: it has no colon, slash, vertical bar or
// control character, no blank at its ends, and is not "arn". IsName does not check the length.
func IsName(s string) bool { return decision.IsName(s) }

// IsWorkflowID reports whether an execution may start with that workflowId: it has no control character, no blank and
// no [UndoSuffix] at its ends, and is not "arn". IsWorkflowID does not check the length.
func IsWorkflowID(s string) bool { return decision.IsWorkflowID(s) }

func (c *Completion) activityType(t Type) *KnownActivityType {
	i := slices.IndexFunc(c.ActivityTypes, func(k KnownActivityType) bool { return k.Type == t })
	if i < 0 {
		return nil
	}
	return &c.ActivityTypes[i]
}

func (c *Completion) workflowType(t Type) *KnownWorkflowType {
	i := slices.IndexFunc(c.WorkflowTypes, func(k KnownWorkflowType) bool { return k.Type == t })
	if i < 0 {
		return nil
	}
	return &c.WorkflowTypes[i]
}
