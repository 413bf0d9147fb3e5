package swf

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

func (b *batchTurn) startChild(d *decision.Decision, refused string) {
	s := Start{
		Domain: b.start.Domain, WorkflowID: d.Text("workflowId"), Type: typeOf(d, "workflowType"), TagList: d.Tags("tagList"),
	}
	if refused == "" {
		s.Configuration, refused = b.configuration(d, s.Type)
	}
	if refused == "" && len(b.memory.Children) >= b.settings.OpenChildren {
		refused = decision.ChildrenLimit
	}
	var a history.Attributes
	a.Type("workflowType", s.Type.Name, s.Type.Version).Text("workflowId", s.WorkflowID).
		Given("control", d.Given("control"))
	if refused != "" {
		b.fail(d, a.Ref("initiatedEventId", 0), refused)
		return
	}
	configured(&a, &s)
	a.Given("input", d.Given("input")).Decided(b.completed)
	event := b.emit(d.Success, b.completed, NodeName(s.WorkflowID, 0), &a)
	if b.closed {
		return
	}
	parent := b.execution()
	s.Parent, s.ParentInitiatedEventID = &parent, event
	name, id := NodeName(s.WorkflowID, event), RunID(b.ask.Random)
	n := note{
		Kind: childNode, Event: event, ID: s.WorkflowID, Type: &s.Type, RunID: id, Control: d.Given("control"),
		Decided: b.completed,
	}
	child := s.Run(id, d.Given("input"))
	child.Kept = true // as the policy for children says
	if b.start.ChildPolicy == PolicyTerminate {
		child.Stop = s.termination()
	}
	b.add(grow.Spec{Name: name, Kind: grow.Nested, Report: true, Note: n.value(), Child: child})
	b.memory.Children[name] = openChild{shorten(s.WorkflowID), event}
}

// child answers the question about the node of a child.
func (t *turn) child(n *note) {
	c := &t.ask.Cause
	if c.Kind == grow.Failed && n.Started == 0 && neverStarted[c.Failure.Code] != "" {
		delete(t.memory.Children, c.Name)
		var a history.Attributes
		a.Type("workflowType", n.Type.Name, n.Type.Version).Text("cause", neverStarted[c.Failure.Code]).
			Text("workflowId", n.ID).Ref("initiatedEventId", n.Event).Decided(n.Decided).Given("control", n.Control)
		t.emit(history.StartChildFailed, n.Event, c.Name, &a)
		return
	}
	if n.Started == 0 {
		n.Started = t.emit(history.ChildStarted, n.Event, c.Name, n.childAttributes(n.RunID))
		t.growth.Note = n.value()
	}
	if c.Kind == grow.Called {
		return
	}
	delete(t.memory.Children, c.Name)
	o := outcomeOf(c.Failure)
	if c.Kind == grow.Ended {
		o = outcome{}
		_ = c.Result.Decode(&o) // an execution ends with it; another result has none of the members
	}
	a := n.childAttributes(o.RunID)
	event := history.ChildCompleted
	switch {
	case c.Kind == grow.Ended:
		a.Given("result", o.Result)
	case c.Failure.Code == CodeFailed:
		event = history.ChildFailed
		a.Given("reason", o.Reason).Given("details", o.Details)
	case c.Failure.Code == CodeCanceled:
		event = history.ChildCanceled
		a.Given("details", o.Details)
	case c.Failure.Code == CodeTimedOut:
		event = history.ChildTimedOut
		a.Text("timeoutType", "START_TO_CLOSE")
	default: // also if the engine ended its run
		event = history.ChildTerminated
	}
	t.emit(event, n.Started, c.Name, a.Ref("startedEventId", n.Started))
}

// neverStarted has the cause of StartChildWorkflowExecutionFailed by the code of the failure of a run that was not
// created.
var neverStarted = map[string]string{
	atom.CodeKeyTaken: decision.AlreadyRunning, atom.CodeRunExists: decision.AlreadyRunning,
	atom.CodeNoFlow: decision.NotPermitted, atom.CodeNoStart: decision.NotPermitted,
}

// childAttributes returns what the events about a child have in common. run is the run that the event is about; "" is
// the first one of the child.
func (n *note) childAttributes(run string) *history.Attributes {
	var a history.Attributes
	fill(&run, n.RunID)
	return a.Execution("workflowExecution", n.ID, run).Type("workflowType", n.Type.Name, n.Type.Version).
		Ref("initiatedEventId", n.Event)
}
