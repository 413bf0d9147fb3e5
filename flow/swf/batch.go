package swf

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// A batchTurn applies the decisions of one completion. Their events follow each other. After them come the events of
// further effects, such as the end of an activity that no worker has taken. If the batch closes the execution, it has
// no further effects.
type batchTurn struct {
	*turn

	done      *Completion
	completed int64 // the DecisionTaskCompleted event
	later     []func()
}

func (b *batchTurn) apply(batch Batch) {
	for i := range batch.decisions {
		if b.closed {
			return
		}
		d := &batch.decisions[i]
		b.decide(d, b.done.Refusals[i])
	}
	for _, f := range b.later {
		if !b.closed {
			f()
		}
	}
}

// decide applies one decision. It fails with the cause refused if that is not "".
func (b *batchTurn) decide(d *decision.Decision, refused string) {
	switch d.Type {
	case decision.ScheduleActivityTask:
		b.scheduleActivity(d, refused)
	case decision.RequestCancelActivity:
		b.requestCancelActivity(d, refused)
	case decision.CompleteExecution, decision.FailExecution, decision.CancelExecution, decision.ContinueAsNew:
		b.close(d, refused)
	case decision.RecordMarker:
		b.recordMarker(d, refused)
	case decision.StartTimer:
		b.startTimer(d, refused)
	case decision.CancelTimer:
		b.cancelTimer(d, refused)
	case decision.SignalExternal:
		b.signalExternal(d, refused)
	case decision.RequestCancelExternal:
		b.requestCancelExternal(d, refused)
	case decision.StartChild:
		b.startChild(d, refused)
	case decision.ScheduleLambdaFunction:
		b.scheduleLambda(d, refused)
	}
}

// fail records that a decision failed. The attributes a identify the decision.
func (b *batchTurn) fail(d *decision.Decision, a *history.Attributes, cause string) {
	b.emit(d.Failure, b.completed, "", a.Text("cause", cause).Decided(b.completed))
}

func (b *batchTurn) recordMarker(d *decision.Decision, refused string) {
	var a history.Attributes
	a.Text("markerName", d.Text("markerName"))
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	b.emit(d.Success, b.completed, d.Text("markerName"), a.Given("details", d.Given("details")).Decided(b.completed))
}

// close closes the execution. If a decision task is scheduled, it fails instead, because the decider has not seen why
// that task was scheduled.
func (b *batchTurn) close(d *decision.Decision, refused string) {
	cause := refused
	if b.memory.Scheduled != nil {
		cause = decision.UnhandledDecision
	}
	if d.Type == decision.ContinueAsNew && cause == "" {
		b.continueAsNew(d)
		return
	}
	var a history.Attributes
	if cause != "" {
		b.fail(d, &a, cause)
		return
	}
	result, reason, details := d.Given("result"), d.Given("reason"), d.Given("details")
	a.Given("result", result).Given("reason", reason).Given("details", details)
	b.emit(d.Success, b.completed, "", a.Decided(b.completed))
	switch d.Type {
	case decision.CompleteExecution:
		b.end("COMPLETED", grow.End{Value: atom.MustEncode(outcome{RunID: b.ask.Run.ID, Result: result})})
	case decision.FailExecution:
		b.end("FAILED", b.failed(CodeFailed, reason, details))
	default:
		end := b.failed(CodeCanceled, nil, details)
		end.Cancelled = true
		b.end("CANCELED", end)
	}
}

// configuration returns the configuration that a decision gives a new execution of a type, and the cause why it cannot
// start, or "".
func (b *batchTurn) configuration(d *decision.Decision, t Type) (c Configuration, cause string) {
	known := b.done.workflowType(t)
	switch {
	case known == nil:
		return c, decision.WorkflowTypeNone
	case known.Deprecated:
		return c, decision.WorkflowDeprecated
	}
	c = Configuration{
		TaskPriority: d.Text("taskPriority"), TaskStartToCloseTimeout: d.Text("taskStartToCloseTimeout"),
		ExecutionStartToCloseTimeout: d.Text("executionStartToCloseTimeout"), ChildPolicy: d.Text("childPolicy"),
		LambdaRole: d.Text("lambdaRole"),
	}
	if list := d.Name("taskList"); list != "" {
		c.TaskList = &TaskList{list}
	}
	switch c.Complete(&known.Defaults) {
	case "executionStartToCloseTimeout":
		cause = "DEFAULT_EXECUTION_START_TO_CLOSE_TIMEOUT_UNDEFINED"
	case "taskList":
		cause = "DEFAULT_TASK_LIST_UNDEFINED"
	case "taskStartToCloseTimeout":
		cause = "DEFAULT_TASK_START_TO_CLOSE_TIMEOUT_UNDEFINED"
	case "childPolicy":
		cause = "DEFAULT_CHILD_POLICY_UNDEFINED"
	}
	return c, cause
}

func (b *batchTurn) continueAsNew(d *decision.Decision) {
	next := Start{
		Domain: b.start.Domain, WorkflowID: b.start.WorkflowID, Type: successorType(d, b.start.Type),
		TagList: d.Tags("tagList"), Parent: b.start.Parent, ParentInitiatedEventID: b.start.ParentInitiatedEventID,
		ContinuedExecutionRunID: b.ask.Run.ID,
	}
	var cause string
	var a history.Attributes
	if next.Configuration, cause = b.configuration(d, next.Type); cause != "" {
		b.fail(d, &a, cause)
		return
	}
	id := RunID(b.ask.Random)
	a.Given("input", d.Given("input")).Decided(b.completed).Text("newExecutionRunId", id)
	configured(&a, &next)
	b.emit(d.Success, b.completed, "", a.Type("workflowType", next.Type.Name, next.Type.Version))
	b.end("CONTINUED_AS_NEW", grow.End{Successor: next.Run(id, d.Given("input"))})
}

// configured writes the configuration and the tags of an execution.
func configured(a *history.Attributes, s *Start) {
	a.Filled("executionStartToCloseTimeout", s.ExecutionStartToCloseTimeout).List("taskList", s.TaskList.Name).
		Filled("taskPriority", s.TaskPriority).Filled("taskStartToCloseTimeout", s.TaskStartToCloseTimeout).
		Text("childPolicy", s.ChildPolicy).Tags("tagList", s.TagList).Filled("lambdaRole", s.LambdaRole)
}
