package swf

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A DecisionTask is the reply to a poll that took a decision task: how far its events go, and those of the last one.
type DecisionTask struct {
	StartedEventID         int64 `json:"startedEventId"`
	PreviousStartedEventID int64 `json:"previousStartedEventId"`
}

// An ActivityTask is the reply to a poll that took an activity task, without its token and its input. The input is
// that of the node: a string, or null for none.
type ActivityTask struct {
	ActivityID        string    `json:"activityId"`
	StartedEventID    int64     `json:"startedEventId"`
	WorkflowExecution Execution `json:"workflowExecution"`
	ActivityType      Type      `json:"activityType"`
}

// NoIdentity is the worker that takes a task for a poller that did not say who it is. The engine needs some name.
const NoIdentity = "(no identity)"

// identity returns the identity of the poller that took the task; nil if it has none.
func (t *turn) identity() *string {
	if t.ask.Cause.Kind != grow.Taken {
		return nil
	}
	identity := textOf(t.ask.Cause.Result)
	if identity != nil && *identity == NoIdentity {
		return nil
	}
	return identity
}

// The codes of failures of activities, children and executions. The details of such a failure are an object with the
// members reason and details.
const (
	CodeFailed     = "SWF.Failed"
	CodeCanceled   = "SWF.Canceled"
	CodeTimedOut   = "SWF.TimedOut"   // of an execution
	CodeTerminated = "SWF.Terminated" // of an execution
)

// ActivityFailed returns the failure of an activity whose worker calls RespondActivityTaskFailed. Pass it to the
// store with the activity's token.
func ActivityFailed(reason, details *string) *atom.Failure {
	return failureOf(CodeFailed, outcome{Reason: reason, Details: details})
}

// ActivityCanceled returns the failure of an activity whose worker calls RespondActivityTaskCanceled. Pass it to the
// store with the activity's token.
func ActivityCanceled(details *string) *atom.Failure {
	return failureOf(CodeCanceled, outcome{Details: details})
}

// An outcome is how an activity or an execution ended.
type outcome struct {
	RunID   string  `json:"runId,omitempty"` // of the execution
	Result  *string `json:"result,omitempty"`
	Reason  *string `json:"reason,omitempty"`
	Details *string `json:"details,omitempty"`
}

// outcomeOf reads the failure of an activity or an execution. For a failure of another party, such as an operator, the
// reason is its code, and the details are its message.
func outcomeOf(f *atom.Failure) (o outcome) {
	if f == nil {
		return o
	}
	switch f.Code {
	case CodeFailed, CodeCanceled, CodeTimedOut, CodeTerminated:
		if f.Details.Decode(&o) == nil {
			return o
		}
	}
	reason := cut(f.Code, maxReason)
	o = outcome{Reason: &reason}
	if f.Message != "" {
		details := cut(f.Message, maxResult)
		o.Details = &details
	}
	return o
}

// maxReason is the maximum number of characters of the reason of a failure.
const maxReason = 256

// failureOf returns a failure with these details. They fit in a failure, unless thousands of control characters make
// their JSON too long: then failureOf cuts them.
func failureOf(code string, o outcome) *atom.Failure {
	f := &atom.Failure{Code: code, Details: atom.MustEncode(o)}
	for n := maxResult / 2; len(f.Details) > atom.MaxFailureDetails && o.Details != nil; n /= 2 {
		details := cut(*o.Details, n)
		o.Details = &details
		f.Details = atom.MustEncode(o)
	}
	if o.Reason != nil {
		f.Message = *o.Reason
	}
	return f
}
