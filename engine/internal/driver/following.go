package driver

import (
	"math"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/states"
)

// follow applies the messages that were read, in the order in which they were committed, up to the one with number
// last. A message that no atom waits for yet stays in the inbox. If the run comes to rest meanwhile, the other messages
// make it due.
func (d *Driver) follow(last int64) error {
	defer d.ask.attend()()
	d.box.stalled = false
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
		if command && d.stops(&o, l.N) && d.awaitsCalls() || !command && d.endsOthers(l) {
			d.box.stalled = true
			return nil
		}
		d.box.queue, applied = d.box.queue[1:], true
		var err error
		switch {
		case command && o.Kind == inbox.Resume && (d.att.quit || d.State() == states.FlowSuspending):
			d.box.resumes = l.N // the run comes to rest first, for a command that came before
		case command:
			err = d.command(&o, l.N)
		default:
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

// settle decides, and gives atoms that have started to wait the messages that arrived for them before.
func (d *Driver) settle() error {
	responder{d}.takeRequests()
	d.box.stalled = false
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
		if d.cycle.over == nil && len(d.box.queue) > 0 && !d.box.stalled { // they were read when attempts were given up
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
