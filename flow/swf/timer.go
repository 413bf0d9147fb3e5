package swf

import (
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

func (b *batchTurn) startTimer(d *decision.Decision, refused string) {
	id := d.Text("timerId")
	_, open := b.memory.Timers[shorten(id)]
	switch {
	case refused != "":
	case open:
		refused = decision.TimerIDInUse
	case len(b.memory.Timers) >= b.settings.OpenTimers:
		refused = decision.TimersLimit
	}
	var a history.Attributes
	a.Text("timerId", id)
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	timeout := d.Text("startToFireTimeout")
	event := b.emit(d.Success, b.completed, NodeName(id, 0),
		a.Given("control", d.Given("control")).Text("startToFireTimeout", timeout).Decided(b.completed))
	due := b.ask.Now.Add(seconds(timeout))
	n := note{Kind: timerNode, Event: event, ID: id, CloseDue: due.UnixMilli()}
	b.add(grow.Spec{Name: NodeName(id, event), Kind: grow.Timer, Due: due, Note: n.value()})
	if !b.closed {
		b.memory.Timers[shorten(id)] = event
	}
}

func (b *batchTurn) cancelTimer(d *decision.Decision, refused string) {
	id := d.Text("timerId")
	started, open := b.memory.Timers[shorten(id)]
	if !open && refused == "" {
		refused = decision.TimerIDUnknown
	}
	var a history.Attributes
	a.Text("timerId", id)
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	delete(b.memory.Timers, shorten(id))
	b.drop(NodeName(id, started))
	b.emit(d.Success, started, NodeName(id, started), a.Ref("startedEventId", started).Decided(b.completed))
}

// fire records that the time of a timer has come.
func (t *turn) fire(n *note) {
	delete(t.memory.Timers, shorten(n.ID))
	var a history.Attributes
	t.emit(history.TimerFired, n.Event, t.ask.Cause.Name, a.Text("timerId", n.ID).Ref("startedEventId", n.Event))
}
