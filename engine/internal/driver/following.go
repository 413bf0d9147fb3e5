package driver

import (
	"math"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/mailbox"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// follow lets the run receive the ends of given-up attempts, and the messages that were read, up to the one with
// number last. A message that no atom waits for yet stays in the inbox. If the run comes to rest meanwhile, the other
// messages make it due.
func (d *Driver) follow(last int64) error {
	defer d.ask.attend()()
	defer func() {
		d.ask.commanded = false
		d.stopFollows(d.mail.StopWaits())
	}()
	for turn := d.mail.Turn(last); d.cycle.over == nil; {
		m, step := turn.Next(d)
		d.ask.attending = step == mailbox.Receive && !m.End
		var err error
		switch {
		case step == mailbox.Done:
			return nil
		case step == mailbox.Settle:
			d.ask.commanded = true // so not for longer than others wait
			err = d.decideTold()
		case step == mailbox.Seal:
			err = d.seal()
			d.stopFollows(true)
		case m.Command != nil:
			err = d.command(m.Command, m.N)
			d.stopFollows(false)
		default:
			err = d.open(&m.Message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stops implements [mailbox.Run].
func (d *Driver) Stops(c *inbox.Command) bool {
	if d.attempts.Len() == 0 {
		return false
	}
	asked := *c
	return d.Refuse(&asked) == nil
}

// stopFollows sets whether a stop follows on what the run receives. Then the run does not end by it: whoever sent the
// stop was told that the run had not ended.
func (d *Driver) stopFollows(follows bool) {
	d.ask.stopFollows = follows
	d.s.StopFollows(follows)
}

// Suspends implements [mailbox.Run].
func (d *Driver) Suspends() bool { return d.att.quit || d.State() == states.FlowSuspending }

// AwaitsCalls implements [mailbox.Run]. It cancels the calls.
func (d *Driver) AwaitsCalls() (awaits bool) {
	for u := range d.attempts.Early() {
		d.calls.Cancel(u, false)
		awaits = true
	}
	return awaits
}

// followFirst applies what comes before the run starts anything: ends of interrupted calls, and commands. A language
// hears of these ends before a stop. If the run has none, the stop comes first.
func (d *Driver) followFirst() error {
	if !d.Grows() {
		if err := d.followCommands(); err != nil {
			return err
		}
		return d.endInterrupted()
	}
	if err := d.endInterrupted(); err != nil {
		return err
	}
	return d.followCommands()
}

// endInterrupted ends the atoms whose calls a process that died was making, and which other parties have ended since.
// So these calls are not made again.
func (d *Driver) endInterrupted() error {
	d.mail.Advance(func(m *storage.Message) bool {
		a := d.attempts.EndedBy(m)
		return a != nil && a.Interrupted()
	})
	if err := d.follow(0); err != nil {
		return err
	}
	for _, a := range d.attempts.Interrupted() {
		if err := d.feed(d.endEarly(a)); err != nil {
			return err
		}
	}
	return nil
}

// followCommands applies messages up to the last command. A suspended run that allows none of the commands any longer
// stays suspended.
func (d *Driver) followCommands() error {
	err := d.follow(d.mail.LastCommand())
	if err == nil && d.Mode.Held && !d.cycle.commanded {
		d.att.quit = true
		err = d.applySuspendRequest()
	}
	return err
}

// settle decides, and gives atoms that have started to wait the messages that arrived for them before.
func (d *Driver) settle() error {
	d.takeRequests()
	for signals := d.attempts.Signals(); ; {
		if err := d.decide(); err != nil {
			return err
		}
		if d.attempts.Signals() != signals && d.mail.Deferred() {
			signals = d.attempts.Signals()
			if err := d.rereadMessages(); err != nil {
				return err
			}
			continue
		}
		if received := d.mail.Received(); d.cycle.over == nil && !d.mail.Empty() {
			if err := d.follow(math.MaxInt64); err != nil {
				return err
			}
			if d.mail.Received() > received {
				continue
			}
		}
		if asks, err := d.askNext(); asks && err == nil {
			continue
		} else if err != nil || len(d.children.delayed) == 0 || d.cycle.over != nil {
			return err
		}
		if err := d.flush(); err != nil { // so that a stop which was received is not seen again
			return err
		}
		return d.children.beginDelayed()
	}
}

// decideTold decides until the language has heard of every message that the run has received, before the run is
// stopped: the stop would drop what is still to be asked. So it may last for several time slices. It does not wait for
// a language whose answer was given up, or a run that is set aside.
func (d *Driver) decideTold() error {
	d.ask.telling = true
	defer func() { d.ask.telling = false }()
	for {
		err := d.decide()
		if err != nil || !d.ask.postponed || d.ask.endHeld || d.Mode.Urgent || d.att.aside != nil || !d.s.MustTell() {
			return err
		}
		if d.ctx.Err() != nil {
			return ErrStopped
		}
		d.TimePasses()
		d.Tick()
		d.ask.since = d.Draft.Now
	}
}

// seal lets no other party end the attempts of a run that is about to be stopped, and advances the ends that were
// accepted before.
func (d *Driver) seal() error {
	given := d.attempts.Seal()
	if len(given) == 0 {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.advance(given)
}

// advance reads all messages, and advances those that end attempts which are given up: these ends were accepted
// before.
func (d *Driver) advance(given []attempts.Withdrawal) error {
	for more := true; more; {
		var err error
		if more, err = d.look(); err != nil {
			return err
		}
	}
	for _, w := range given {
		if w.Attempt != nil && w.Early != nil && w.Awaited() {
			d.mail.AddEnd(w.Early) // otherwise it waits for the end of the attempt's call
		}
	}
	d.mail.Advance(func(m *storage.Message) bool {
		a := d.attempts.EndedBy(m)
		return a != nil && slices.ContainsFunc(given, func(w attempts.Withdrawal) bool { return w.Attempt == a })
	})
	return nil
}

// endAccepted applies the ends that were accepted before a run is stopped. So the language of the run hears of them,
// and of calls that have just ended, before it hears of the stop.
func (d *Driver) endAccepted() error {
	if err := d.seal(); err != nil {
		return err
	}
	if err := d.follow(0); err != nil {
		return err
	}
	return d.decideTold()
}

// released returns the wakeup counter with which a run is released.
func (d *Driver) released(ended bool) int64 {
	known := d.mail.Released(ended)
	if !ended {
		return known
	}
	for _, r := range slices.Concat(d.requests.passed, d.requests.list) {
		if r.message > 0 {
			known = min(known, r.message-1)
		}
	}
	return known
}

// receipt sends the receipt of a message that the pending checkpoint takes, if its sender wants one. It says whether
// the run has received the message.
func (d *Driver) receipt(n int64, received bool) {
	m, wanted := d.mail.Receipt(n)
	switch {
	case !wanted:
	case received:
		d.Draft.Send(backend.Received(&m, d.Claim.Run))
	default:
		d.Draft.Send(backend.Returned(&m, "the run ended first"))
	}
}

// returnMessages returns the messages that the run has not received when it ends.
func (d *Driver) returnMessages() {
	for _, n := range d.mail.Unreceived() {
		d.receipt(n, false)
		d.Draft.Take(n)
	}
}

// isTransition reports whether a question to a language is what follows from an end.
func isTransition(k grow.CauseKind) bool {
	switch k {
	case grow.Begin, grow.Ended, grow.Failed, grow.Joined, grow.JoinFailed, grow.Overdue, grow.Continue, grow.Undone,
		grow.UndoFailed:
		return true
	case grow.Stopped, grow.Told, grow.Taken, grow.Called, grow.Asked, grow.Receipt:
		return false
	default:
		return false
	}
}
