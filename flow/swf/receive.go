package swf

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// MessageExecution is the kind of the messages between executions.
const MessageExecution grow.MessageKind = "execution"

// A delivery is the body of a message between executions.
type delivery struct {
	WorkflowID string  `json:"workflowId"` // of the sender
	Initiated  int64   `json:"initiated"`  // the event in its history
	SignalName string  `json:"signalName,omitempty"`
	Input      *string `json:"input,omitempty"`
	Abandoned  bool    `json:"abandoned,omitempty"` // terminate: nothing is undone
}

// asked answers a call of the API.
func (t *turn) asked() {
	c := &t.ask.Cause
	t.growth.Reply = atom.Null
	switch c.Name {
	case CallSignal:
		var s Signal
		if c.Input.Decode(&s) != nil || s.SignalName == "" {
			t.refuse("a signal needs a name")
			return
		}
		t.signaled(s.SignalName, s.Input, nil, 0)
	case CallRequestCancel:
		t.cancelRequested(nil, 0, "")
	case CallTerminate:
		var end Termination
		if c.Input.Decode(&end) != nil {
			t.refuse("the termination cannot be read")
			return
		}
		t.terminate(end.ChildPolicy, end.Reason, end.Details, "OPERATOR_INITIATED")
	default:
		t.refuse("executions do not know the call " + c.Name)
	}
}

// refuse tells the caller what is not valid in the call. Nothing else of the answer counts.
func (t *turn) refuse(message string) {
	t.growth.Refuse = (&Fault{FaultValidation, message}).value()
}

// told answers a message: of another execution, or a signal that an operator sent to the run.
func (t *turn) told() {
	c := &t.ask.Cause
	if c.Message == grow.MessageSignal {
		t.signaled(c.Name, textOf(c.Result), nil, 0)
		return
	}
	var d delivery
	if c.Message != MessageExecution || c.Result.Decode(&d) != nil {
		return
	}
	from := &Execution{d.WorkflowID, c.From}
	switch c.Name {
	case signalMessage:
		t.signaled(d.SignalName, d.Input, from, d.Initiated)
	case requestCancelMessage:
		t.cancelRequested(from, d.Initiated, "")
	case cancelPolicyMessage:
		if t.isChildOf(from, d.Initiated) {
			t.cancelRequested(from, 0, "CHILD_POLICY_APPLIED")
		}
	case terminateMessage:
		if t.isChildOf(from, d.Initiated) {
			t.abandoned = d.Abandoned
			t.terminate("", nil, nil, "CHILD_POLICY_APPLIED")
		}
	}
}

// isChildOf reports whether that event of that execution started this one. After a child has closed, another execution
// may have its workflowId.
func (t *turn) isChildOf(parent *Execution, initiated int64) bool {
	return t.start.Parent != nil && *t.start.Parent == *parent && t.start.ParentInitiatedEventID == initiated
}

func (t *turn) signaled(name string, input *string, from *Execution, initiated int64) {
	var a history.Attributes
	a.Text("signalName", name).Given("input", input)
	if from != nil {
		a.Execution("externalWorkflowExecution", from.WorkflowID, from.RunID)
	}
	t.emit(history.Signaled, 0, name, a.Ref("externalInitiatedEventId", initiated))
	t.personDecided(name)
}

func (t *turn) cancelRequested(from *Execution, initiated int64, cause string) {
	var a history.Attributes
	if from != nil {
		a.Execution("externalWorkflowExecution", from.WorkflowID, from.RunID)
	}
	t.emit(history.CancelRequested, 0, "", a.Ref("externalInitiatedEventId", initiated).Filled("cause", cause))
	t.label(LabelCancelRequested, "true")
}
