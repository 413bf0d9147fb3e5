package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// messageChild is the kind of the message with which a child run reports its end to its parent. Name is the child's
// id, Body its output, and Failure why it did not succeed.
const messageChild = "child"

// open applies a message that is not a command.
func (d *Driver) open(m *storage.Message) error {
	switch m.Kind {
	case backend.MessageToken:
		e := d.attempts.ByToken(m)
		if e == nil {
			d.Draft.Take(m.N) // the attempt of the message is over
			return nil
		}
		return d.endExternal(e, m)
	case backend.MessageTaken, backend.MessageRetaken:
		return d.workTaken(m)
	case messageChild:
		return d.childEnded(m)
	case messageContinued:
		return d.children.childContinued(m)
	case messageCall:
		d.receive(m)
		return nil
	case backend.MessageRefused:
		d.Draft.Take(m.N) // which adds its line
		return nil
	default:
		return d.told(m)
	}
}

// workTaken starts the time limits that count from when a worker took the work of an attempt. If the attempt
// belongs to a language's node, workTaken tells the language.
func (d *Driver) workTaken(m *storage.Message) error {
	e := d.attempts.ByToken(m)
	if e == nil {
		d.Draft.Take(m.N)
		return nil
	}
	if err := d.lookAt(e); err != nil {
		return err
	}
	d.attempts.Watch(e)
	n := e.Grown()
	if m.Kind != backend.MessageTaken || attempts.QueueOf(n) == "" {
		d.Draft.Take(m.N)
		return nil
	}
	cause := &grow.Cause{
		Kind: grow.Taken, Name: n.Spec.Name, Note: n.Spec.Note,
		Attempt: int(n.Rec.Attempt), Result: m.Body,
	}
	var worker string
	if err := m.Body.Decode(&worker); err == nil && worker == backend.Anonymous {
		cause.Result = atom.MustEncode("")
	}
	return d.feed(scheduler.Event{Kind: scheduler.Told, N: m.N, Unit: e.Unit, Cause: cause})
}

// told passes a message to the language of a growing flow, or to the atom that waits for the signal.
func (d *Driver) told(m *storage.Message) error {
	if d.Grows() {
		if !d.s.Listens() {
			d.mail.Defer(m)
			return nil
		}
		scope := d.s.ScopeAt(m.Path)
		if scope == nil {
			d.Draft.Take(m.N)
			d.receipt(m.N, false)
			return nil
		}
		cause := &grow.Cause{
			Kind: grow.Told, Message: m.Kind, Name: m.Name, From: m.From, Result: m.Body, Failure: m.Failure,
		}
		if m.Kind == backend.MessageReceipt {
			cause.Kind, cause.Message, cause.Note = grow.Receipt, "", m.Note
		}
		return d.feed(scheduler.Event{Kind: scheduler.Told, N: m.N, Cause: cause, Scope: scope})
	}
	if e := d.attempts.BySignal(m); e != nil {
		return d.endExternal(e, m)
	}
	d.mail.Defer(m)
	return nil
}

// rereadMessages checks again the messages that no atom waited for.
func (d *Driver) rereadMessages() error {
	if !d.mail.Deferred() {
		return nil
	}
	defer d.ask.attend()()
	unread := d.mail.TakeDeferred()
	for i := range unread {
		if err := d.told(&unread[i]); err != nil {
			return err
		}
	}
	return nil
}
