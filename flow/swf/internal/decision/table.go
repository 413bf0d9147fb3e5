package decision

import "slices"

// A Kind is the type of a member's value, with its constraints.
type Kind uint8

// The kinds of members.
const (
	ID         Kind = iota // 1 to 256 characters that an id may have
	WorkflowID             // an ID for a new execution
	ListName               // 1 to 256 characters that a name may have
	Name                   // a string of 1 to 256 characters
	Data                   // a string of up to 32,768 characters
	Reason                 // a string of up to 256 characters
	RunID                  // a string of up to 64 characters; "" is absent
	Version                // a string of up to 64 characters; "" is absent
	Timeout                // seconds or NONE; "" is absent
	Duration               // seconds, for the execution's own timeout; not NONE; "" is absent
	Seconds                // seconds, of 1 to 8 characters; neither NONE nor ""
	Lambda                 // seconds, from 1 to 900; "" is absent
	Priority               // a 32-bit integer; "" is absent
	Policy                 // a child policy
	Role                   // an ARN of up to 1,600 characters; "" is absent
	Function               // 1 to 64 characters
	List                   // {"name": …}, a task list
	Type                   // {"name": …, "version": …}
	Tags                   // up to 5 strings of up to 256 characters
)

// A Member is a member of the attributes of a decision.
type Member struct {
	Name     string // as on the wire
	Kind     Kind   // its value
	Required bool   // it must not be absent
}

// An Entry is what the service defines for one type of decision.
type Entry struct {
	Type    string   // the value of decisionType
	Members []Member // of the attributes
	Success string   // the event that records it
	Failure string   // the event that records its failure
	// Initiated says that Failure comes after Success: the decision is recorded first, and delivered after its batch.
	Initiated bool
	Closes    bool     // it closes the execution
	Causes    []string // of its failure
}

// Attributes returns the name of the member of a decision that has the attributes.
func (e *Entry) Attributes() string {
	return string(e.Type[0]|0x20) + e.Type[1:] + "DecisionAttributes"
}

// Has reports whether a failure may have that cause.
func (e *Entry) Has(cause string) bool { return slices.Contains(e.Causes, cause) }

// The types of decisions.
const (
	ScheduleActivityTask   = "ScheduleActivityTask"
	RequestCancelActivity  = "RequestCancelActivityTask"
	CompleteExecution      = "CompleteWorkflowExecution"
	FailExecution          = "FailWorkflowExecution"
	CancelExecution        = "CancelWorkflowExecution"
	ContinueAsNew          = "ContinueAsNewWorkflowExecution"
	RecordMarker           = "RecordMarker"
	StartTimer             = "StartTimer"
	CancelTimer            = "CancelTimer"
	SignalExternal         = "SignalExternalWorkflowExecution"
	RequestCancelExternal  = "RequestCancelExternalWorkflowExecution"
	StartChild             = "StartChildWorkflowExecution"
	ScheduleLambdaFunction = "ScheduleLambdaFunction"
)

// The causes of failures that the model itself finds, or that Ebb's quotas cause.
const (
	NotPermitted       = "OPERATION_NOT_PERMITTED"
	UnhandledDecision  = "UNHANDLED_DECISION"
	ActivityTypeNone   = "ACTIVITY_TYPE_DOES_NOT_EXIST"
	ActivityDeprecated = "ACTIVITY_TYPE_DEPRECATED"
	ActivityIDInUse    = "ACTIVITY_ID_ALREADY_IN_USE"
	ActivityIDUnknown  = "ACTIVITY_ID_UNKNOWN"
	ActivitiesLimit    = "OPEN_ACTIVITIES_LIMIT_EXCEEDED"
	TimerIDInUse       = "TIMER_ID_ALREADY_IN_USE"
	TimerIDUnknown     = "TIMER_ID_UNKNOWN"
	TimersLimit        = "OPEN_TIMERS_LIMIT_EXCEEDED"
	ExternalUnknown    = "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION"
	WorkflowTypeNone   = "WORKFLOW_TYPE_DOES_NOT_EXIST"
	WorkflowDeprecated = "WORKFLOW_TYPE_DEPRECATED"
	AlreadyRunning     = "WORKFLOW_ALREADY_RUNNING"
	ChildrenLimit      = "OPEN_CHILDREN_LIMIT_EXCEEDED"
	LambdaIDInUse      = "ID_ALREADY_IN_USE"
	LambdasLimit       = "OPEN_LAMBDA_FUNCTIONS_LIMIT_EXCEEDED"
)

// Table has the decisions in the order in which the service lists them in its messages.
var Table = []Entry{
	{
		Type: CompleteExecution, Members: []Member{{"result", Data, false}},
		Success: "WorkflowExecutionCompleted", Failure: "CompleteWorkflowExecutionFailed", Closes: true,
		Causes: []string{UnhandledDecision, NotPermitted},
	},
	{
		Type:    StartTimer,
		Members: []Member{{"timerId", ID, true}, {"control", Data, false}, {"startToFireTimeout", Seconds, true}},
		Success: "TimerStarted", Failure: "StartTimerFailed",
		Causes: []string{TimerIDInUse, TimersLimit, "TIMER_CREATION_RATE_EXCEEDED", NotPermitted},
	},
	{
		Type:    RequestCancelExternal,
		Members: []Member{{"workflowId", ID, true}, {"runId", RunID, false}, {"control", Data, false}},
		Success: "RequestCancelExternalWorkflowExecutionInitiated", Failure: "RequestCancelExternalWorkflowExecutionFailed",
		Initiated: true,
		Causes:    []string{ExternalUnknown, "REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED", NotPermitted},
	},
	{
		Type: SignalExternal,
		Members: []Member{
			{"workflowId", ID, true},
			{"runId", RunID, false},
			{"signalName", Name, true},
			{"input", Data, false},
			{"control", Data, false},
		},
		Success: "SignalExternalWorkflowExecutionInitiated", Failure: "SignalExternalWorkflowExecutionFailed",
		Initiated: true,
		Causes:    []string{ExternalUnknown, "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED", NotPermitted},
	},
	{
		Type: CancelTimer, Members: []Member{{"timerId", ID, true}},
		Success: "TimerCanceled", Failure: "CancelTimerFailed", Causes: []string{TimerIDUnknown, NotPermitted},
	},
	{
		Type: RecordMarker, Members: []Member{{"markerName", Name, true}, {"details", Data, false}},
		Success: "MarkerRecorded", Failure: "RecordMarkerFailed", Causes: []string{NotPermitted},
	},
	{
		Type: ScheduleActivityTask,
		Members: []Member{
			{"activityType", Type, true},
			{"activityId", ID, true},
			{"control", Data, false},
			{"input", Data, false},
			{"scheduleToCloseTimeout", Timeout, false},
			{"taskList", List, false},
			{"taskPriority", Priority, false},
			{"scheduleToStartTimeout", Timeout, false},
			{"startToCloseTimeout", Timeout, false},
			{"heartbeatTimeout", Timeout, false},
		},
		Success: "ActivityTaskScheduled", Failure: "ScheduleActivityTaskFailed",
		Causes: []string{
			ActivityDeprecated, ActivityTypeNone, ActivityIDInUse, ActivitiesLimit, "ACTIVITY_CREATION_RATE_EXCEEDED",
			"DEFAULT_SCHEDULE_TO_CLOSE_TIMEOUT_UNDEFINED", "DEFAULT_TASK_LIST_UNDEFINED",
			"DEFAULT_SCHEDULE_TO_START_TIMEOUT_UNDEFINED", "DEFAULT_START_TO_CLOSE_TIMEOUT_UNDEFINED",
			"DEFAULT_HEARTBEAT_TIMEOUT_UNDEFINED", NotPermitted,
		},
	},
	{
		Type: ContinueAsNew,
		Members: []Member{
			{"input", Data, false},
			{"executionStartToCloseTimeout", Duration, false},
			{"taskList", List, false},
			{"taskPriority", Priority, false},
			{"taskStartToCloseTimeout", Timeout, false},
			{"childPolicy", Policy, false},
			{"tagList", Tags, false},
			{"workflowTypeVersion", Version, false},
			{"lambdaRole", Role, false},
		},
		Success: "WorkflowExecutionContinuedAsNew", Failure: "ContinueAsNewWorkflowExecutionFailed", Closes: true,
		Causes: []string{
			UnhandledDecision, WorkflowDeprecated, WorkflowTypeNone, "DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED",
			"DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED", "DEFAULT_TASK_LIST_UNDEFINED", "DEFAULT_CHILD_POLICY_UNDEFINED",
			"CONTINUE_AS_NEW_WORKFLOW_EXECUTION_RATE_EXCEEDED", NotPermitted,
		},
	},
	{
		Type: ScheduleLambdaFunction,
		Members: []Member{
			{"id", ID, true},
			{"name", Function, true},
			{"control", Data, false},
			{"input", Data, false},
			{"startToCloseTimeout", Lambda, false},
		},
		Success: "LambdaFunctionScheduled", Failure: "ScheduleLambdaFunctionFailed",
		Causes: []string{
			LambdaIDInUse, LambdasLimit, "LAMBDA_FUNCTION_CREATION_RATE_EXCEEDED",
			"LAMBDA_SERVICE_NOT_AVAILABLE_IN_REGION", NotPermitted,
		},
	},
	{
		Type: FailExecution, Members: []Member{{"reason", Reason, false}, {"details", Data, false}},
		Success: "WorkflowExecutionFailed", Failure: "FailWorkflowExecutionFailed", Closes: true,
		Causes: []string{UnhandledDecision, NotPermitted},
	},
	{
		Type: RequestCancelActivity, Members: []Member{{"activityId", ID, true}},
		Success: "ActivityTaskCancelRequested", Failure: "RequestCancelActivityTaskFailed",
		Causes: []string{ActivityIDUnknown, NotPermitted},
	},
	{
		Type: StartChild,
		Members: []Member{
			{"workflowType", Type, true},
			{"workflowId", WorkflowID, true},
			{"control", Data, false},
			{"input", Data, false},
			{"executionStartToCloseTimeout", Duration, false},
			{"taskList", List, false},
			{"taskPriority", Priority, false},
			{"taskStartToCloseTimeout", Timeout, false},
			{"childPolicy", Policy, false},
			{"tagList", Tags, false},
			{"lambdaRole", Role, false},
		},
		Success: "StartChildWorkflowExecutionInitiated", Failure: "StartChildWorkflowExecutionFailed",
		Causes: []string{
			WorkflowTypeNone, WorkflowDeprecated, ChildrenLimit, "OPEN_WORKFLOWS_LIMIT_EXCEEDED",
			"CHILD_CREATION_RATE_EXCEEDED", AlreadyRunning, "DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED",
			"DEFAULT_TASK_LIST_UNDEFINED", "DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED",
			"DEFAULT_CHILD_POLICY_UNDEFINED", NotPermitted,
		},
	},
	{
		Type: CancelExecution, Members: []Member{{"details", Data, false}},
		Success: "WorkflowExecutionCanceled", Failure: "CancelWorkflowExecutionFailed", Closes: true,
		Causes: []string{UnhandledDecision, NotPermitted},
	},
}

// ByType returns the entry of a type of decision, or nil.
func ByType(name string) *Entry {
	for i := range Table {
		if Table[i].Type == name {
			return &Table[i]
		}
	}
	return nil
}
