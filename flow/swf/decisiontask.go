package swf

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// decisionTask answers the question about the node of a decision task.
func (t *turn) decisionTask(n *note) {
	if t.start.Undoes != nil {
		t.undoDecision(n)
		return
	}
	switch c := &t.ask.Cause; c.Kind {
	case grow.Taken:
		t.decisionStarted(n)
	case grow.Ended:
		t.decisionCompleted(n)
	case grow.Failed:
		if c.Call {
			t.refuse("a decision task cannot fail; complete it")
			return
		}
		t.decisionTimedOut(n)
	default:
	}
}

func (t *turn) decisionStarted(n *note) {
	if n.Started == 0 { // otherwise a worker takes again what another one has lost
		var a history.Attributes
		a.Given("identity", t.identity()).Ref("scheduledEventId", n.Event)
		n.Started = t.emit(history.DecisionStarted, n.Event, "", &a)
		if t.closed {
			return // the history is full: there is no task
		}
		n.ToClose = dueAfter(t.ask.Now, limit(t.start.TaskStartToCloseTimeout))
		t.memory.Started, t.memory.Scheduled = &startedTask{n.Started}, nil
	}
	t.growth.Note = n.value()
	t.growth.Reply = atom.MustEncode(DecisionTask{
		StartedEventID: n.Started, PreviousStartedEventID: t.memory.Previous,
	})
}

// decisionTimedOut records that no decider took the task in time, or that the one that took it did not complete it.
func (t *turn) decisionTimedOut(n *note) {
	timeout := "START_TO_CLOSE"
	if n.Started == 0 {
		timeout = "SCHEDULE_TO_START"
		t.memory.Scheduled = nil
	}
	t.memory.Started = nil
	if n.StartDue != 0 { // it was scheduled under a temporary override
		t.memory.Override = nil
	}
	var a history.Attributes
	a.Text("timeoutType", timeout).Ref("scheduledEventId", n.Event).Ref("startedEventId", n.Started)
	t.emit(history.DecisionTimedOut, n.Event, "", &a)
}

// decisionCompleted applies the decisions of a decider.
func (t *turn) decisionCompleted(n *note) {
	c := &t.ask.Cause
	var done Completion
	var batch Batch
	var fault *Fault
	switch {
	case n.Started == 0:
		fault = &Fault{FaultUnknownResource, "the decision task has not been started"}
	case c.Result.Decode(&done) != nil:
		fault = &Fault{FaultSerialization, "the result of the decision task is not a completion"}
	default:
		if batch, fault = ParseDecisions(done.Decisions); fault == nil {
			fault = done.check(batch)
		}
	}
	switch {
	case fault == nil:
	case c.Call:
		t.growth.Refuse = fault.value()
		return
	default: // the token has ended
		t.decisionTimedOut(n)
		return
	}
	t.memory.Started, t.memory.Previous = nil, n.Started
	var a history.Attributes
	a.Given("executionContext", done.ExecutionContext).Ref("scheduledEventId", n.Event).Ref("startedEventId", n.Started)
	if done.TaskList != nil {
		a.List("taskList", done.TaskList.Name)
	}
	completed := t.emit(history.DecisionCompleted, n.Started, "",
		a.Filled("taskListScheduleToStartTimeout", done.TaskListScheduleToStartTimeout))
	if done.ExecutionContext != nil {
		t.memory.Context = completed
	}
	if done.TaskList != nil {
		toStart := done.TaskListScheduleToStartTimeout
		if toStart == decision.None {
			toStart = ""
		}
		t.memory.Override = &override{done.TaskList.Name, toStart}
	}
	t.growth.Reply = atom.Null
	b := &batchTurn{turn: t, done: &done, completed: completed}
	b.apply(batch)
}

// check returns what is not valid in a completion beside its decisions.
func (c *Completion) check(batch Batch) *Fault {
	var found decision.ConstraintErrors
	found = found.Checked("taskListScheduleToStartTimeout", decision.Timeout, c.TaskListScheduleToStartTimeout, true)
	if c.TaskList != nil {
		found = found.Checked("taskList.name", decision.ListName, c.TaskList.Name, false)
	}
	if c.ExecutionContext != nil {
		found = found.Checked("executionContext", decision.Data, *c.ExecutionContext, false)
	}
	if len(found) > 0 {
		return &Fault{FaultValidation, found.Error()}
	}
	for i, cause := range c.Refusals {
		if i < 0 || i >= len(batch.decisions) || !batch.decisions[i].Has(cause) {
			return &Fault{FaultValidation, "a decision cannot fail with the cause " + cause}
		}
	}
	return nil
}
