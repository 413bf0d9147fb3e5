package engine

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// DefaultGrace is how long an atom may go on after its context has ended, unless
// [WithGrace] says otherwise.
const DefaultGrace = time.Minute

// WithGrace sets how long an atom may go on after its context has ended: because
// its time limit passed, it was cancelled, or the process is to stop. An atom
// that goes on for longer ignores its context. It is given up: an error is
// logged and counted (see [Engine.GivenUp]), its attempt has failed with an
// outcome that is Unknown, and whatever it still returns is ignored. Its
// goroutine cannot be ended, and what it still does may meet its own revert.
// When the process is to stop nothing is written: the attempt is made again. 0
// gives up at once; the default is [DefaultGrace].
//
// An answer of a language, a retry controller or a decider that goes on although the
// run is to stop, or to follow a command or its deadline, is given up after the same
// time, and at least a second. The run then goes on from its last commit.
func WithGrace(d time.Duration) Option {
	return option(func(e *Engine) error {
		if d < 0 {
			return fmt.Errorf("engine: grace %v; want 0 or more", d)
		}
		e.grace = d
		return nil
	})
}

// GivenUp returns how many calls of atoms, and answers, this engine has given up since it was
// made, in all runs, because they ignored that their context had
// ended, or that something else was wanted of the run.
func (e *Engine) GivenUp() int64 { return e.givenUp.Load() }

// giveUpAfter gives a call up if it is still under way then.
func (d *driver) giveUpAfter(c *call, after time.Duration) {
	if c.late != nil && !c.late.Stop() {
		return // it is being given up now
	}
	c.late = time.AfterFunc(after, func() {
		select {
		case d.stuck <- c:
		case <-d.gone:
		}
	})
}

// giveUp stops waiting for a call. It reports false when the call has ended
// meanwhile.
func (d *driver) giveUp(c *call) bool {
	if !d.isDispatched(c) {
		return false
	}
	d.completed(c)
	c.givenUp = true
	d.e.givenUp.Add(1)
	d.e.log.Error("an atom ignores that its context has ended; it is given up",
		"run", d.claim.Run, "atom", c.about.Path, "attempt", c.about.Attempt, "revert", c.about.Revert, "grace", d.e.grace)
	return true
}

// lost is how a call ends that was given up.
func (d *driver) lost(c *call) scheduler.Event {
	f := &atom.Failure{Atom: c.about.Path, Attempt: c.about.Attempt, Code: atom.CodeTimeout}
	f.Message = fmt.Sprintf("the attempt took longer than %v and had not ended %v later", c.timeout, d.e.grace)
	if c.told {
		f.Code = atom.CodeCancelled
		f.Message = fmt.Sprintf("it was cancelled and had not ended %v later", d.e.grace)
	}
	return scheduler.Event{Kind: scheduler.Completed, Atom: c.atom, Node: c.node, Revert: c.about.Revert, Failure: f}
}

func (d *driver) endedLate(c *call) {
	d.e.log.Warn("an atom that was given up has ended after all; what it returned is ignored",
		"run", d.claim.Run, "atom", c.about.Path, "attempt", c.about.Attempt)
}

// stopAtoms cancels what still executes, and waits for it as long as its grace
// lasts.
func (d *driver) stopAtoms() {
	select {
	case <-d.e.suspend: // what it drives beside itself comes to rest by itself, too
		d.childSlots.Wait()
	default:
	}
	d.release()
	defer d.childSlots.Wait()
	defer close(d.gone)
	if d.running == 0 {
		return
	}
	for _, c := range d.dispatched {
		c.life.end()
	}
	grace := time.NewTimer(d.e.grace)
	defer grace.Stop()
	for d.running > 0 {
		if f, ok := d.pool.completed(); ok {
			if !f.call.givenUp {
				d.completed(f.call)
			}
			continue
		}
		select {
		case <-d.pool.some:
		case <-grace.C:
			for len(d.dispatched) > 0 {
				d.giveUp(d.dispatched[0])
			}
		}
	}
}
