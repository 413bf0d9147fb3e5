package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// messageChild is the kind of the message with which a child run reports its end to its parent. Name is the child's
// id, Body its output, and Failure why it did not succeed.
const messageChild = "child"

// readMessages reads a page of the messages that arrived since the inbox was last read. After a full page it makes
// the driver read the next page.
func (d *Driver) readMessages() error {
	wakeups, messages, err := d.env.Store.Messages(d.storing, d.claim.Run, d.box.wakeups)
	if err != nil {
		return WrapStore(d.claim.Run, err)
	}
	if n := len(messages); n == storage.MaxMessages {
		wakeups = messages[n-1].N
		d.att.mail.Store(true)
		d.att.look.Store(true)
	} else if n > 0 {
		wakeups = max(wakeups, messages[n-1].N)
	}
	d.box.wakeups = wakeups
	return d.follow(messages)
}

// readAll reads all messages that have arrived.
func (d *Driver) readAll() error {
	for more := true; more; more = d.att.mail.Swap(false) {
		if err := d.readMessages(); err != nil {
			return err
		}
	}
	return nil
}

// hear reads the messages that have arrived, before the run itself gives up attempts that other parties may end: what
// they were told was accepted counts.
func (d *Driver) hear() error {
	if d.cycle.over != nil || len(d.tokens.open) == 0 && len(d.children.byID) == 0 && (!d.Grows() || !d.s.Listens()) {
		return nil
	}
	if err := d.readAll(); err != nil {
		return err
	}
	return d.decide()
}

// follow applies messages in the order in which they were committed. A message that no atom waits for yet stays in the
// inbox.
func (d *Driver) follow(messages []storage.Message) error {
	d.box.note(messages)
	d.next.Issued(messages)
	for begun := 0; begun < len(messages); {
		n, err := d.followTo(messages[begun:])
		if err != nil {
			return err
		}
		if begun += n; begun < len(messages) {
			// What precedes the command has all its consequences first, but not for longer than others wait.
			d.att.look.Store(true)
			if over, err := d.decideBefore(messages[begun:]); over || err != nil {
				return err
			}
		}
	}
	return nil
}

// decideBefore decides before messages are applied that were read. It reports whether the run is over. Then the run is
// released, and these messages make it due.
func (d *Driver) decideBefore(messages []storage.Message) (over bool, err error) {
	if outer := d.box.pending; outer == 0 && len(messages) > 0 {
		d.box.pending = messages[0].N
		defer func() { d.box.pending = outer }()
	}
	err = d.decide()
	return d.cycle.over != nil, err
}

// followCommands applies messages up to the last command, before the run starts anything, and returns the others. A
// suspended run that allows none of the commands any longer stays suspended.
func (d *Driver) followCommands(messages []storage.Message) (others []storage.Message, err error) {
	last := 0
	for i := range messages {
		if o, is := inbox.CommandOf(&messages[i]); is && o.Kind != inbox.Suspend {
			last = i + 1
		}
	}
	if err := d.follow(messages[:last]); err != nil {
		return nil, err
	}
	if d.Mode.Held && !d.cycle.commanded {
		d.att.quit = true
		err = d.applySuspendRequest()
	}
	return messages[last:], err
}

// followTo applies messages up to the first command that others precede. It returns the number of messages that it
// applied, at least one.
func (d *Driver) followTo(messages []storage.Message) (int, error) {
	defer d.ask.attend()()
	for i := range messages {
		o, command := inbox.CommandOf(&messages[i])
		switch {
		case !command:
			if err := d.open(&messages[i]); err != nil {
				return i, err
			}
		case i > 0 && o.Kind != inbox.Suspend && o.Kind != inbox.Resume:
			return i, nil
		default:
			if err := d.command(&o, messages[i].N); err != nil {
				return i, err
			}
		}
	}
	return len(messages), nil
}

// command applies a command, unless the run does not allow it.
func (d *Driver) command(o *inbox.Command, n int64) error {
	so, tell, err := d.accept(o, n)
	if tell {
		d.cycle.commanded = true
		err = d.feed(scheduler.Event{Kind: scheduler.CommandReceived, OperatorCommand: &so})
	}
	return err
}

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

// cancelMoved cancels the run if it was to be cancelled when its language had answered what follows next. It reports
// whether it did.
func (d *Driver) cancelMoved() (cancelled bool, err error) {
	if !d.box.moved {
		return false, nil
	}
	d.box.moved = false
	unread := d.box.unread
	d.box.unread = nil
	for i := range unread {
		if unread[i].Kind != inbox.CancelNext {
			d.box.unread = append(d.box.unread, unread[i])
			continue
		}
		due := inbox.Due(&unread[i])
		so, tell, err := d.accept(&due, unread[i].N)
		if err != nil {
			return false, err
		}
		if tell {
			cancelled = true
			if err := d.feed(scheduler.Event{Kind: scheduler.CommandReceived, OperatorCommand: &so}); err != nil {
				return false, err
			}
		}
	}
	return cancelled, nil
}

// isTransition reports whether a question to a language is what follows from an end.
func isTransition(k flow.CauseKind) bool {
	switch k {
	case flow.Begin, flow.Ended, flow.Failed, flow.Joined, flow.JoinFailed, flow.Overdue, flow.Continue, flow.Undone,
		flow.UndoFailed:
		return true
	case flow.Stopped, flow.Told, flow.Taken, flow.Called, flow.Asked, flow.Receipt:
		return false
	default:
		return false
	}
}

// settle decides, and gives atoms that have started to wait the messages that arrived for them before.
func (d *Driver) settle() error {
	responder{d}.takeRequests()
	for {
		d.box.awaited = false
		if err := d.decide(); err != nil {
			return err
		}
		cancelled, err := d.cancelMoved()
		if err != nil {
			return err
		}
		if cancelled {
			continue
		}
		if d.box.awaited {
			if err := d.rereadMessages(); err != nil {
				return err
			}
			continue
		}
		if asks, err := (responder{d}).askNext(); !asks || err != nil {
			return err
		}
	}
}

// accept returns the command for the scheduler, and whether the scheduler must apply it. If the run does not allow
// the command, accept drops it.
func (d *Driver) accept(o *inbox.Command, n int64) (so scheduler.OperatorCommand, tell bool, err error) {
	if n <= d.inTime {
		o.Next = 0
	}
	if err := d.Refuse(o); err != nil {
		if notOfRun(err) {
			return so, false, err
		}
		d.env.Log.Warn(logevent.CommandRefused, "run", d.claim.Run, "command", o.Kind, "error", err)
		d.next.Judged(n, err)
		d.next.Take(n)
		if o.Kind == inbox.Retry && d.State().Ended() { // the parent run may have sent it
			d.children.tellParent()
		}
		return so, false, nil
	}
	d.next.Judged(n, nil)
	d.rests = d.rests && o.Kind == inbox.Suspend
	d.children.descent.deep = d.children.descent.deep || o.Deep
	d.env.Log.Info(logevent.CommandReceived, logevent.Attributes("run", d.claim.Run, "command", o.Kind, "path", o.Path)...)
	if o.Kind == inbox.Suspend || o.Kind == inbox.Resume {
		d.next.Take(n)
		d.att.quit = d.att.quit || o.Kind == inbox.Suspend // what resumes the run is that it was taken over
		return so, false, nil
	}
	if len(o.Input) > 0 {
		err = d.replaceInput(o.Input)
	}
	return o.Operator(n), err == nil, err
}

// replaceInput gives some inputs of the run new values.
func (d *Driver) replaceInput(changed map[string]atom.Value) error {
	whole, err := d.s.SetInput(changed)
	if err != nil {
		return WrapStore(d.claim.Run, err)
	}
	held := d.next.Hold(whole)
	d.next.Input, d.about.Input, d.next.Dirty = &held, whole, true
	return nil
}
