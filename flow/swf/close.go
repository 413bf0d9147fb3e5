package swf

import (
	"maps"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// end ends the run, whose closing event was already appended.
func (t *turn) end(status string, end grow.End) {
	t.label(LabelCloseStatus, LabelValue(t.start.Domain, status))
	t.growth.End = &end
	switch status {
	case "FAILED", "TIMED_OUT", "TERMINATED":
		if !t.abandoned {
			t.startUndo()
		}
	}
}

func (t *turn) label(key, value string) {
	if t.growth.Labels == nil {
		t.growth.Labels = map[string]string{}
	}
	t.growth.Labels[key] = value
}

// failed returns the end of a run that did not complete. Its parent reads the failure.
func (t *turn) failed(code string, reason, details *string) grow.End {
	return grow.End{Failure: failureOf(code, outcome{RunID: t.ask.Run.ID, Reason: reason, Details: details})}
}

// timeOut closes the execution because its time is over.
func (t *turn) timeOut() {
	var a history.Attributes
	a.Text("timeoutType", "START_TO_CLOSE").Text("childPolicy", t.start.ChildPolicy)
	t.emit(history.TimedOut, 0, "", &a)
	t.applyPolicy(t.start.ChildPolicy)
	end := t.failed(CodeTimedOut, nil, nil)
	end.TimedOut = true
	t.end("TIMED_OUT", end)
}

// terminate closes the execution at once. policy is applied to its children; "" is the execution's own.
func (t *turn) terminate(policy string, reason, details *string, cause string) {
	fill(&policy, t.start.ChildPolicy)
	var a history.Attributes
	a.Given("reason", reason).Given("details", details).Text("childPolicy", policy).Text("cause", cause)
	t.emit(history.Terminated, 0, "", &a)
	t.applyPolicy(policy)
	end := t.failed(CodeTerminated, reason, details)
	end.Cancelled = true
	t.end("TERMINATED", end)
}

// applyPolicy does to the open children what the policy requires. Each child applies its own policy to its children.
func (t *turn) applyPolicy(policy string) {
	name := map[string]string{PolicyTerminate: terminateMessage, PolicyRequestCancel: cancelPolicyMessage}[policy]
	if name == "" {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(t.memory.Children)) {
		child := t.memory.Children[node]
		t.growth.Send = append(t.growth.Send, grow.Message{
			ToKey: Key(t.start.Domain, child.WorkflowID), Kind: MessageExecution, Name: name,
			Stops: name == terminateMessage && !t.abandoned,
			Body: atom.MustEncode(delivery{
				WorkflowID: t.start.WorkflowID, Initiated: child.Initiated, Abandoned: t.abandoned,
			}),
		})
	}
}

// termination returns the message that terminates a child because its parent was terminated.
func (s *Start) termination() *grow.Message {
	return &grow.Message{
		Kind: MessageExecution, Name: terminateMessage,
		Body: atom.MustEncode(delivery{WorkflowID: s.Parent.WorkflowID, Initiated: s.ParentInitiatedEventID}),
	}
}

// stopped records that an operator, or the engine, ended the run.
func (t *turn) stopped() {
	var reason *string
	if f := t.ask.Cause.Failure; f != nil && f.Message != "" {
		reason = &f.Message
	}
	t.abandoned = t.ask.Cause.Abandoned
	t.terminate("", reason, nil, "OPERATOR_INITIATED")
}
