package history

// A Kind is the type of an attribute.
type Kind uint8

// The kinds of attributes.
const (
	Text         Kind = iota // a string
	WorkflowType             // {"name": …, "version": …}
	ActivityType             // {"name": …, "version": …}
	List                     // {"name": …}, a task list
	Execution                // {"workflowId": …, "runId": …}
	Tags                     // a list of strings
	Ref                      // the id of an event
)

// An Attribute is a member of the attributes of an event.
type Attribute struct {
	Name     string
	Kind     Kind
	Required bool   // it is always there
	To       string // Ref: the type of the event that it refers to
	Zero     bool   // Ref: 0 if there is no such event
	Foreign  bool   // Ref: the event is in the history of another execution
}

// Scheduling says whether an event schedules a decision task.
type Scheduling uint8

// When events schedule a decision task.
const (
	Never   Scheduling = iota
	Always             // unless a decision task is scheduled
	Pending            // like Always; with the cause UNHANDLED_DECISION a decision task is scheduled already
)

// An Entry is what the service defines for one type of event.
type Entry struct {
	Type       string
	Attributes []Attribute
	Schedules  Scheduling
	Closes     bool // it is the last event of its execution
}

// The types of events.
const (
	Started                  = "WorkflowExecutionStarted"
	CancelRequested          = "WorkflowExecutionCancelRequested"
	Completed                = "WorkflowExecutionCompleted"
	CompleteFailed           = "CompleteWorkflowExecutionFailed"
	Failed                   = "WorkflowExecutionFailed"
	FailFailed               = "FailWorkflowExecutionFailed"
	TimedOut                 = "WorkflowExecutionTimedOut"
	Canceled                 = "WorkflowExecutionCanceled"
	CancelFailed             = "CancelWorkflowExecutionFailed"
	ContinuedAsNew           = "WorkflowExecutionContinuedAsNew"
	ContinueAsNewFailed      = "ContinueAsNewWorkflowExecutionFailed"
	Terminated               = "WorkflowExecutionTerminated"
	DecisionScheduled        = "DecisionTaskScheduled"
	DecisionStarted          = "DecisionTaskStarted"
	DecisionCompleted        = "DecisionTaskCompleted"
	DecisionTimedOut         = "DecisionTaskTimedOut"
	ActivityScheduled        = "ActivityTaskScheduled"
	ScheduleActivityFailed   = "ScheduleActivityTaskFailed"
	ActivityStarted          = "ActivityTaskStarted"
	ActivityCompleted        = "ActivityTaskCompleted"
	ActivityFailed           = "ActivityTaskFailed"
	ActivityTimedOut         = "ActivityTaskTimedOut"
	ActivityCanceled         = "ActivityTaskCanceled"
	ActivityCancelRequested  = "ActivityTaskCancelRequested"
	CancelActivityFailed     = "RequestCancelActivityTaskFailed"
	Signaled                 = "WorkflowExecutionSignaled"
	MarkerRecorded           = "MarkerRecorded"
	RecordMarkerFailed       = "RecordMarkerFailed"
	TimerStarted             = "TimerStarted"
	StartTimerFailed         = "StartTimerFailed"
	TimerFired               = "TimerFired"
	TimerCanceled            = "TimerCanceled"
	CancelTimerFailed        = "CancelTimerFailed"
	ChildInitiated           = "StartChildWorkflowExecutionInitiated"
	StartChildFailed         = "StartChildWorkflowExecutionFailed"
	ChildStarted             = "ChildWorkflowExecutionStarted"
	ChildCompleted           = "ChildWorkflowExecutionCompleted"
	ChildFailed              = "ChildWorkflowExecutionFailed"
	ChildTimedOut            = "ChildWorkflowExecutionTimedOut"
	ChildCanceled            = "ChildWorkflowExecutionCanceled"
	ChildTerminated          = "ChildWorkflowExecutionTerminated"
	SignalInitiated          = "SignalExternalWorkflowExecutionInitiated"
	SignalFailed             = "SignalExternalWorkflowExecutionFailed"
	ExternalSignaled         = "ExternalWorkflowExecutionSignaled"
	RequestCancelInitiated   = "RequestCancelExternalWorkflowExecutionInitiated"
	RequestCancelFailed      = "RequestCancelExternalWorkflowExecutionFailed"
	ExternalCancelRequested  = "ExternalWorkflowExecutionCancelRequested"
	LambdaScheduled          = "LambdaFunctionScheduled"
	LambdaStarted            = "LambdaFunctionStarted"
	LambdaCompleted          = "LambdaFunctionCompleted"
	LambdaFailed             = "LambdaFunctionFailed"
	LambdaTimedOut           = "LambdaFunctionTimedOut"
	ScheduleLambdaFailed     = "ScheduleLambdaFunctionFailed"
	StartLambdaFailed        = "StartLambdaFunctionFailed"
	decisionTaskCompletedRef = "decisionTaskCompletedEventId"
)

// decided is the reference to the completed decision task whose decision caused the event.
var decided = ref(decisionTaskCompletedRef, DecisionCompleted)

// Table has the events in the order of the service's model.
var Table = []Entry{
	{Started, []Attribute{
		text("input"), text("executionStartToCloseTimeout"), text("taskStartToCloseTimeout"), need("childPolicy", Text),
		need("taskList", List), text("taskPriority"), need("workflowType", WorkflowType),
		{Name: "tagList", Kind: Tags},
		text("continuedExecutionRunId"),
		{Name: "parentWorkflowExecution", Kind: Execution},
		foreign("parentInitiatedEventId", ChildInitiated), text("lambdaRole"),
	}, Always, false},
	{CancelRequested, []Attribute{
		{Name: "externalWorkflowExecution", Kind: Execution},
		foreign("externalInitiatedEventId", RequestCancelInitiated),
		text("cause"),
	}, Always, false},
	{Completed, []Attribute{text("result"), decided}, Never, true},
	{CompleteFailed, []Attribute{need("cause", Text), decided}, Pending, false},
	{Failed, []Attribute{text("reason"), text("details"), decided}, Never, true},
	{FailFailed, []Attribute{need("cause", Text), decided}, Pending, false},
	{TimedOut, []Attribute{need("timeoutType", Text), need("childPolicy", Text)}, Never, true},
	{Canceled, []Attribute{text("details"), decided}, Never, true},
	{CancelFailed, []Attribute{need("cause", Text), decided}, Pending, false},
	{ContinuedAsNew, []Attribute{
		text("input"), decided, need("newExecutionRunId", Text), text("executionStartToCloseTimeout"), need("taskList", List),
		text("taskPriority"), text("taskStartToCloseTimeout"), need("childPolicy", Text),
		{Name: "tagList", Kind: Tags},
		need("workflowType", WorkflowType), text("lambdaRole"),
	}, Never, true},
	{ContinueAsNewFailed, []Attribute{need("cause", Text), decided}, Always, false},
	{Terminated, []Attribute{text("reason"), text("details"), need("childPolicy", Text), text("cause")}, Never, true},
	{DecisionScheduled, []Attribute{
		need("taskList", List), text("taskPriority"), text("startToCloseTimeout"), text("scheduleToStartTimeout"),
	}, Never, false},
	{DecisionStarted, []Attribute{text("identity"), ref("scheduledEventId", DecisionScheduled)}, Never, false},
	{DecisionCompleted, []Attribute{
		text("executionContext"), ref("scheduledEventId", DecisionScheduled), ref("startedEventId", DecisionStarted),
		{Name: "taskList", Kind: List},
		text("taskListScheduleToStartTimeout"),
	}, Never, false},
	{DecisionTimedOut, []Attribute{
		need("timeoutType", Text), ref("scheduledEventId", DecisionScheduled), orZero("startedEventId", DecisionStarted),
	}, Always, false},
	{ActivityScheduled, []Attribute{
		need("activityType", ActivityType), need("activityId", Text), text("input"), text("control"),
		text("scheduleToStartTimeout"), text("scheduleToCloseTimeout"), text("startToCloseTimeout"), need("taskList", List),
		text("taskPriority"), decided, text("heartbeatTimeout"),
	}, Never, false},
	{ScheduleActivityFailed, []Attribute{
		need("activityType", ActivityType), need("activityId", Text), need("cause", Text), decided,
	}, Always, false},
	{ActivityStarted, []Attribute{text("identity"), ref("scheduledEventId", ActivityScheduled)}, Never, false},
	{ActivityCompleted, []Attribute{
		text("result"), ref("scheduledEventId", ActivityScheduled), ref("startedEventId", ActivityStarted),
	}, Always, false},
	{ActivityFailed, []Attribute{
		text("reason"), text("details"), ref("scheduledEventId", ActivityScheduled), ref("startedEventId", ActivityStarted),
	}, Always, false},
	{ActivityTimedOut, []Attribute{
		need("timeoutType", Text), ref("scheduledEventId", ActivityScheduled), orZero("startedEventId", ActivityStarted),
		text("details"),
	}, Always, false},
	{ActivityCanceled, []Attribute{
		text("details"), ref("scheduledEventId", ActivityScheduled), orZero("startedEventId", ActivityStarted),
		{Name: "latestCancelRequestedEventId", Kind: Ref, To: ActivityCancelRequested},
	}, Always, false},
	{ActivityCancelRequested, []Attribute{decided, need("activityId", Text)}, Never, false},
	{CancelActivityFailed, []Attribute{need("activityId", Text), need("cause", Text), decided}, Always, false},
	{Signaled, []Attribute{
		need("signalName", Text), text("input"),
		{Name: "externalWorkflowExecution", Kind: Execution},
		foreign("externalInitiatedEventId", SignalInitiated),
	}, Always, false},
	{MarkerRecorded, []Attribute{need("markerName", Text), text("details"), decided}, Never, false},
	{RecordMarkerFailed, []Attribute{need("markerName", Text), need("cause", Text), decided}, Always, false},
	{TimerStarted, []Attribute{
		need("timerId", Text), text("control"), need("startToFireTimeout", Text), decided,
	}, Never, false},
	{StartTimerFailed, []Attribute{need("timerId", Text), need("cause", Text), decided}, Always, false},
	{TimerFired, []Attribute{need("timerId", Text), ref("startedEventId", TimerStarted)}, Always, false},
	{TimerCanceled, []Attribute{need("timerId", Text), ref("startedEventId", TimerStarted), decided}, Never, false},
	{CancelTimerFailed, []Attribute{need("timerId", Text), need("cause", Text), decided}, Always, false},
	{ChildInitiated, []Attribute{
		need("workflowId", Text), need("workflowType", WorkflowType), text("control"), text("input"),
		text("executionStartToCloseTimeout"), need("taskList", List), text("taskPriority"), decided,
		need("childPolicy", Text), text("taskStartToCloseTimeout"),
		{Name: "tagList", Kind: Tags},
		text("lambdaRole"),
	}, Never, false},
	{StartChildFailed, []Attribute{
		need("workflowType", WorkflowType), need("cause", Text), need("workflowId", Text),
		orZero("initiatedEventId", ChildInitiated), decided, text("control"),
	}, Always, false},
	{ChildStarted, childAttributes(), Always, false},
	{ChildCompleted, childAttributes(text("result"), ref("startedEventId", ChildStarted)), Always, false},
	{ChildFailed, childAttributes(text("reason"), text("details"), ref("startedEventId", ChildStarted)), Always, false},
	{ChildTimedOut, childAttributes(need("timeoutType", Text), ref("startedEventId", ChildStarted)), Always, false},
	{ChildCanceled, childAttributes(text("details"), ref("startedEventId", ChildStarted)), Always, false},
	{ChildTerminated, childAttributes(ref("startedEventId", ChildStarted)), Always, false},
	{SignalInitiated, []Attribute{
		need("workflowId", Text), text("runId"), need("signalName", Text), text("input"), decided, text("control"),
	}, Never, false},
	{SignalFailed, []Attribute{
		need("workflowId", Text), text("runId"), need("cause", Text), ref("initiatedEventId", SignalInitiated), decided,
		text("control"),
	}, Always, false},
	{ExternalSignaled, []Attribute{
		need("workflowExecution", Execution), ref("initiatedEventId", SignalInitiated),
	}, Always, false},
	{RequestCancelInitiated, []Attribute{need("workflowId", Text), text("runId"), decided, text("control")}, Never, false},
	{RequestCancelFailed, []Attribute{
		need("workflowId", Text), text("runId"), need("cause", Text), ref("initiatedEventId", RequestCancelInitiated),
		decided, text("control"),
	}, Always, false},
	{ExternalCancelRequested, []Attribute{
		need("workflowExecution", Execution), ref("initiatedEventId", RequestCancelInitiated),
	}, Always, false},
	{LambdaScheduled, []Attribute{
		need("id", Text), need("name", Text), text("control"), text("input"), text("startToCloseTimeout"), decided,
	}, Never, false},
	{LambdaStarted, []Attribute{ref("scheduledEventId", LambdaScheduled)}, Never, false},
	{LambdaCompleted, []Attribute{
		ref("scheduledEventId", LambdaScheduled), ref("startedEventId", LambdaStarted), text("result"),
	}, Always, false},
	{LambdaFailed, []Attribute{
		ref("scheduledEventId", LambdaScheduled), ref("startedEventId", LambdaStarted), text("reason"), text("details"),
	}, Always, false},
	{LambdaTimedOut, []Attribute{
		ref("scheduledEventId", LambdaScheduled), ref("startedEventId", LambdaStarted), text("timeoutType"),
	}, Always, false},
	{ScheduleLambdaFailed, []Attribute{need("id", Text), need("name", Text), need("cause", Text), decided}, Always, false},
	{StartLambdaFailed, []Attribute{
		ref("scheduledEventId", LambdaScheduled), text("cause"), text("message"),
	}, Always, false},
}

func text(name string) Attribute            { return Attribute{Name: name} }
func need(name string, kind Kind) Attribute { return Attribute{Name: name, Kind: kind, Required: true} }

func ref(name, to string) Attribute     { return Attribute{Name: name, Kind: Ref, Required: true, To: to} }
func orZero(name, to string) Attribute  { a := ref(name, to); a.Zero = true; return a }
func foreign(name, to string) Attribute { a := orZero(name, to); a.Foreign = true; return a }
func childAttributes(more ...Attribute) []Attribute {
	return append([]Attribute{
		need("workflowExecution", Execution), need("workflowType", WorkflowType), ref("initiatedEventId", ChildInitiated),
	}, more...)
}

var byType = func() map[string]*Entry {
	all := make(map[string]*Entry, len(Table))
	for i := range Table {
		all[Table[i].Type] = &Table[i]
	}
	return all
}()

// ByType returns the entry of a type of event, or nil.
func ByType(name string) *Entry { return byType[name] }

// AttributesMember returns the name of the member of an event that has its attributes.
func AttributesMember(event string) string {
	return string(event[0]|0x20) + event[1:] + "EventAttributes"
}
