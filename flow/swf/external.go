package swf

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

func (b *batchTurn) signalExternal(d *decision.Decision, refused string) {
	b.send(d, signalMessage, refused, func(a *history.Attributes) {
		a.Text("signalName", d.Text("signalName")).Given("input", d.Given("input"))
	})
}

func (b *batchTurn) requestCancelExternal(d *decision.Decision, refused string) {
	b.send(d, requestCancelMessage, refused, func(*history.Attributes) {})
}

// send records a decision about another execution and sends the message, which is delivered after the batch. describe
// adds the attributes that only one of the two decisions has.
func (b *batchTurn) send(d *decision.Decision, message, refused string, describe func(*history.Attributes)) {
	id, run := d.Text("workflowId"), d.Text("runId")
	var a history.Attributes
	a.Text("workflowId", id).Filled("runId", run)
	describe(&a)
	event := b.emit(d.Success, b.completed, id, a.Decided(b.completed).Given("control", d.Given("control")))
	if b.closed {
		return
	}
	n := note{Kind: message, Event: event, ID: id, RunID: run, Control: d.Given("control"), Decided: b.completed}
	if refused != "" {
		b.notDelivered(&n, refused)
		return
	}
	b.growth.Send = append(b.growth.Send, grow.Message{
		To: run, ToKey: Key(b.start.Domain, id), Kind: MessageExecution, Name: message,
		Body: atom.MustEncode(delivery{
			WorkflowID: b.start.WorkflowID, Initiated: event, SignalName: d.Text("signalName"), Input: d.Given("input"),
		}),
		Receipt: fmt.Sprintf("%s#%d", message, event), Note: n.value(),
	})
}

// delivered records whether a message reached another execution.
func (t *turn) delivered() {
	c := &t.ask.Cause
	var n note
	if err := c.Note.Decode(&n); err != nil {
		return
	}
	run := textOf(c.Result)
	if c.Failure != nil || run == nil {
		t.notDelivered(&n, decision.ExternalUnknown)
		return
	}
	event := history.ExternalSignaled
	if n.Kind == requestCancelMessage {
		event = history.ExternalCancelRequested
	}
	var a history.Attributes
	t.emit(event, n.Event, n.ID, a.Execution("workflowExecution", n.ID, *run).Ref("initiatedEventId", n.Event))
}

func (t *turn) notDelivered(n *note, cause string) {
	event := history.SignalFailed
	if n.Kind == requestCancelMessage {
		event = history.RequestCancelFailed
	}
	var a history.Attributes
	a.Text("workflowId", n.ID).Filled("runId", n.RunID).Text("cause", cause).Ref("initiatedEventId", n.Event).
		Decided(n.Decided).Given("control", n.Control)
	t.emit(event, n.Event, n.ID, &a)
}
