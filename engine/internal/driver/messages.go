package driver

import (
	"math"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// messageChild is the kind of the message with which a child run reports its end to its parent. Name is the child's
// id, Body its output, and Failure why it did not succeed.
const messageChild = "child"

// readMessages reads a page of the messages that arrived since the inbox was last read, and applies them. After a full
// page it makes the driver read the next page.
func (d *Driver) readMessages() error {
	full, err := d.look()
	if err != nil {
		return err
	}
	if full {
		d.att.mail.Store(true)
		d.att.look.Store(true)
	}
	return d.follow(math.MaxInt64)
}

// look reads a page of the messages that arrived since the inbox was last read. It reports whether the page is full.
func (d *Driver) look() (full bool, err error) {
	wakeups, messages, err := d.env.Store.Messages(d.storing, d.claim.Run, d.box.wakeups)
	if err != nil {
		return false, WrapStore(d.claim.Run, err)
	}
	n := len(messages)
	switch full = n == storage.MaxMessages; {
	case full:
		wakeups = messages[n-1].N
	case n > 0:
		wakeups = max(wakeups, messages[n-1].N)
	}
	d.box.wakeups = wakeups
	d.box.queue = append(d.box.queue, messages...)
	d.box.note(messages)
	d.next.Issued(messages)
	return full, nil
}

// readAll reads all messages that have arrived, and applies them.
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

// follow applies the messages that were read, in the order in which they were committed, up to the one with number
// last. A message that no atom waits for yet stays in the inbox. If the run comes to rest meanwhile, the other messages
// make it due.
func (d *Driver) follow(last int64) error {
	defer d.ask.attend()()
	heard := int64(0) // number of the command before which the ends were heard
	for applied := false; d.cycle.over == nil && len(d.box.queue) > 0 && d.box.queue[0].N <= last; {
		l := &d.box.queue[0]
		o, command := inbox.CommandOf(l)
		if command && o.Kind != inbox.Suspend && o.Kind != inbox.Resume && (applied || heard < l.N && d.stops(&o, l.N)) {
			// What precedes the command has all its consequences first, but not for longer than others wait.
			d.att.look.Store(true)
			d.ask.attending = false
			var err error
			if heard = max(heard, l.N); applied {
				err, heard = d.decide(), 0
			} else {
				err = d.endAccepted()
			}
			if d.ask.attending = true; err != nil {
				return err
			}
			applied = false
			continue
		}
		d.box.queue, applied = d.box.queue[1:], true
		var err error
		if command {
			err = d.command(&o, l.N)
		} else {
			err = d.open(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stops reports whether a command stops the run, which allows it.
func (d *Driver) stops(o *inbox.Command, n int64) bool {
	if o.Kind != inbox.Cancel && o.Kind != inbox.Revert || len(d.tokens.open) == 0 {
		return false
	}
	asked := *o
	if n <= d.inTime {
		asked.Next = 0
	}
	return d.Refuse(&asked) == nil
}

// endAccepted closes the tokens of a run that is about to be stopped, and applies the ends that were accepted before.
// So the language of the run hears of them before it hears of the stop. Work that no worker has taken is withdrawn with
// the stop.
func (d *Driver) endAccepted() error {
	given := d.closeTokens()
	if len(given) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	if err := d.hearEnds(given); err != nil {
		return err
	}
	return d.decide()
}

// hearBeforeDeadline applies what was accepted while no process drove a run that is overdue.
func (d *Driver) hearBeforeDeadline() error {
	if err := d.follow(math.MaxInt64); err != nil || d.cycle.over != nil {
		return err
	}
	given := d.closeTokens()
	if len(given) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.hearEnds(given)
}

// closeTokens closes the tokens with the next commit. It returns their attempts.
func (d *Driver) closeTokens() (given []withdrawn) {
	for _, e := range d.tokens.open {
		if e.token.ID == "" || e.token.State != storage.TokenOpen || e.timerKey == nobodys ||
			d.tokens.record(e).State != states.TaskRunning || e.token.Queue != "" && e.token.Take == 0 {
			continue // also the token of a revert
		}
		d.tokens.void(e)
		given = append(given, withdrawn{e, e.timerKey})
	}
	return given
}

// followCommands applies messages up to the last command, before the run starts anything. A suspended run that allows
// none of the commands any longer stays suspended.
func (d *Driver) followCommands() error {
	last := int64(0)
	for i := range d.box.queue {
		if o, is := inbox.CommandOf(&d.box.queue[i]); is && o.Kind != inbox.Suspend {
			last = d.box.queue[i].N
		}
	}
	err := d.follow(last)
	if err == nil && d.Mode.Held && !d.cycle.commanded {
		d.att.quit = true
		err = d.applySuspendRequest()
	}
	return err
}

// hearEnds applies the messages that end attempts which are given up, also behind a command: these ends were accepted
// before.
func (d *Driver) hearEnds(given []withdrawn) error {
	for more := true; more; {
		var err error
		if more, err = d.look(); err != nil {
			return err
		}
	}
	for _, w := range given {
		if w.external != nil && w.early != nil {
			d.box.queue = append(d.box.queue, *w.early)
		}
	}
	for i := 0; i < len(d.box.queue); {
		l := d.box.queue[i]
		e := d.tokens.byToken(&l)
		if l.Kind != storage.MessageToken {
			e = d.tokens.bySignal(&l)
		}
		if e == nil || !slices.ContainsFunc(given, func(w withdrawn) bool { return w.external == e }) {
			i++
			continue
		}
		d.box.queue = slices.Delete(slices.Clone(d.box.queue), i, i+1)
		if err := (ending{d}).endExternal(e, &l); err != nil {
			return err
		}
	}
	return nil
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
		if d.cycle.over == nil && len(d.box.queue) > 0 { // they were read when attempts were given up
			if err := d.follow(math.MaxInt64); err != nil {
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
