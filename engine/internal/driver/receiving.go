package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// messageChild is the kind of the message with which a child run reports its end to its parent. Name is the child's
// id, Body its output, and Failure why it did not succeed.
const messageChild = "child"

// open applies a message that is not a command.
func (d *Driver) open(l *storage.Message) error {
	switch l.Kind {
	case storage.MessageToken:
		e := d.tokens.byToken(l)
		if e == nil {
			d.next.Take(l.N) // the attempt of the message is over
			return nil
		}
		return ending{d}.endExternal(e, l)
	case storage.MessageTaken, storage.MessageRetaken:
		return d.workTaken(l)
	case messageChild:
		return ending{d}.childEnded(l)
	case messageContinued:
		return d.children.childContinued(l)
	case messageCall:
		responder{d}.receive(l)
		return nil
	case storage.MessageRefused:
		d.next.Take(l.N) // which adds its line
		return nil
	case inbox.CancelNext:
		d.box.moved = false // only what follows counts
		return d.told(l)
	default:
		return d.told(l)
	}
}

// workTaken starts the time limits that count from when a worker took the work of an attempt. If the attempt
// belongs to a language's node, workTaken tells the language.
func (d *Driver) workTaken(l *storage.Message) error {
	e := d.tokens.byToken(l)
	if e == nil {
		d.next.Take(l.N)
		return nil
	}
	if err := d.tokens.lookAt(e); err != nil {
		return err
	}
	d.tokens.watchToken(e)
	if l.Kind != storage.MessageTaken || queueOf(e.node) == "" {
		d.next.Take(l.N)
		return nil
	}
	cause := &flow.Cause{
		Kind: flow.Taken, Name: e.node.Spec.Name, Note: e.node.Spec.Note,
		Attempt: int(e.node.Rec.Attempt), Result: l.Body,
	}
	var worker string
	if err := l.Body.Decode(&worker); err == nil && worker == Anonymous {
		cause.Result = atom.MustEncode("")
	}
	return d.feed(scheduler.Event{Kind: scheduler.Told, N: l.N, Node: e.node, Cause: cause})
}

// told passes a message to the language of a growing flow, or to the atom that waits for the signal.
func (d *Driver) told(l *storage.Message) error {
	if d.Grows() {
		if l.Kind == inbox.CancelNext || !d.s.Listens() {
			d.box.unread = append(d.box.unread, *l)
			return nil
		}
		scope := d.s.ScopeAt(l.Path)
		if scope == nil {
			d.next.Take(l.N)
			d.box.answered(&d.run, l.N, false)
			return nil
		}
		cause := &flow.Cause{
			Kind: flow.Told, Message: l.Kind, Name: l.Name, From: l.From, Result: l.Body, Failure: l.Failure,
		}
		if l.Kind == storage.MessageReceipt {
			cause.Kind, cause.Message, cause.Note = flow.Receipt, "", l.Note
		}
		return d.feed(scheduler.Event{Kind: scheduler.Told, N: l.N, Cause: cause, Scope: scope})
	}
	if e := d.tokens.bySignal(l); e != nil {
		return ending{d}.endExternal(e, l)
	}
	d.box.unread = append(d.box.unread, *l)
	return nil
}

// rereadMessages checks again the messages that no atom waited for.
func (d *Driver) rereadMessages() error {
	if len(d.box.unread) == 0 {
		return nil
	}
	defer d.ask.attend()()
	unread := d.box.unread
	d.box.unread = nil
	for i := range unread {
		if err := d.told(&unread[i]); err != nil {
			return err
		}
	}
	return nil
}
