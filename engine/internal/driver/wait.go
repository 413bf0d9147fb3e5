package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
)

// collect gives the scheduler the ends of all calls that have ended, so that they share a commit.
func (d *Driver) collect() error {
	d.keepReports()
	ended := d.ends.list
	d.ends.list = d.ends.spare[:0] // calls that are launched meanwhile may end at once
	for i := range ended {
		if err := d.callEnded(ended[i]); err != nil {
			return err
		}
	}
	clear(ended)
	d.ends.spare = ended
	for {
		f, ok := d.calls.Completed()
		if !ok {
			for _, ev := range d.mail.Held(d) {
				if err := d.callEnded(ev); err != nil {
					return err
				}
			}
			return nil
		}
		if err := d.finish(f); err != nil {
			return err
		}
		if d.ask.yields() { // calls may end as fast as they are processed
			d.att.look.Store(true)
			return nil
		}
	}
}

// wait sleeps until a call ends, a timer is due, the run must be suspended, or the process must stop.
func (d *Driver) wait() (err error) {
	if len(d.ends.list) > 0 || d.cycle.over != nil || d.att.quit || d.att.look.Load() {
		return nil
	}
	if d.ctx.Err() != nil {
		return ErrStopped
	}
	d.TimePasses()
	quiet := d.Mode.Quiet
	if d.att.quiets() {
		if d.calls.Running() == 0 && d.children.busy.Load() == 0 {
			return ErrStopped
		}
		quiet = nil
	} else if d.ask.postponed && !d.ask.crowded && !d.ask.endHeld {
		return nil
	}
	var space <-chan time.Time // when there may be memory
	if d.ask.crowded {
		space = time.After(time.Second)
	}
	var due <-chan time.Time
	if at, ok := d.attempts.Nearest(); ok {
		if d.calls.Running() == 0 {
			failpoint.Hit("engine.backoff")
		}
		t := time.NewTimer(at.Sub(d.env.Store.Now()))
		defer t.Stop()
		due = t.C
	}
	if d.Mode.Slot != nil && d.calls.Running() == 0 {
		d.Mode.Slot.leave()
		defer func() {
			if !d.Mode.Slot.take(d.ctx) && err == nil {
				err = ErrStopped
			}
		}()
	}
	d.tellAwaiting()
	for {
		select {
		case <-d.calls.Ended():
			if f, ok := d.calls.Completed(); ok {
				return d.finish(f)
			} // otherwise it was already processed
		case <-due:
			return d.fire()
		case c := <-d.calls.Stuck():
			if ev, ok := d.calls.GiveUp(c); ok {
				return d.callEnded(ev)
			}
			return nil
		case <-d.att.suspend:
			return nil // analyze sees the request
		case <-d.att.wake:
			return nil
		case <-quiet:
			return nil
		case <-space:
			return nil
		case <-d.ctx.Done():
			return ErrStopped
		}
	}
}

// tellAwaiting notifies observers if the run only waits for other parties.
func (d *Driver) tellAwaiting() {
	if d.calls.Running() > 0 || d.attempts.Len() == 0 && (!d.Grows() || !d.s.Listens()) {
		return
	}
	d.env.Tell(Event{Run: d.Claim.Run, Flow: d.about.Flow, Kind: OthersAwaited, Time: d.Draft.Now})
}

// leaves reports whether the run must be released because it only waits. If so, the
// next commit releases the run.
func (d *Driver) leaves() bool {
	if !d.Mode.Unload || d.calls.Running() > 0 || len(d.ends.list) > 0 || d.cycle.over != nil || d.att.quit ||
		d.ask.postponed || d.att.look.Load() || !d.s.Waits() || d.children.busy.Load() > 0 ||
		len(d.children.begun) > 0 && !d.Mode.Answer {
		return false
	}
	due, waits := d.attempts.Nearest()
	if waits && !due.After(d.env.Store.Now()) {
		return false
	}
	d.release(due)
	return true
}

// givesBack reports whether the run must be released because the process lacks memory for it. It is due at once, for a
// process that has space.
func (d *Driver) givesBack() bool {
	if !d.ask.crowded || d.calls.Running() > 0 || len(d.ends.list) > 0 || d.cycle.over != nil || d.att.quit ||
		d.children.busy.Load() > 0 || len(d.children.begun) > 0 {
		return false
	}
	d.env.Memory.Shares.GiveBack(d.Claim.Run)
	d.release(d.Draft.Now)
	return true
}

// release makes the next commit release the run, which is then due at that time.
func (d *Driver) release(due time.Time) {
	d.Draft.Head.Release, d.Draft.Head.Due, d.Draft.Head.Wakeups, d.Draft.Dirty = true, due, d.released(false), true
}

// leaveDue releases a run that is driven only to answer requests, and that has calls to make: it is due for a process
// that serves.
func (d *Driver) leaveDue() error {
	if len(d.ends.list) > 0 || d.ask.postponed {
		return nil
	}
	d.release(d.Draft.Now)
	if err := d.flush(); err != nil {
		return err
	}
	return ErrWaiting
}

// unchanged reports whether a run that is driven only to answer requests can be left as it is in the store. If so, it
// gives the answers to the callers.
func (d *Driver) unchanged() (bool, error) {
	q := &d.requests
	if !d.Mode.Answer || d.Draft.Dirty || d.Owns() || d.ask.postponed || len(q.list) > 0 || q.asking != nil {
		return false, nil
	}
	if len(q.answered) > 0 {
		if err := d.CheckUnchanged(d.storing); err != nil {
			return false, err
		}
	}
	d.deliver()
	return true, nil
}

// overdue reports whether the run's deadline has passed, and was not noticed yet.
func (d *Driver) overdue() bool {
	at, ok := d.attempts.Due(attempts.Deadline)
	return ok && d.cycle.over == nil && !at.After(d.env.Store.Now())
}

// fire feeds the timers that are due.
func (d *Driver) fire() error {
	err := d.hear()
	if err == nil && d.overdue() {
		if err = d.endAccepted(); err == nil && d.AwaitsCalls() {
			d.attempts.Set(attempts.Deadline, d.env.Store.Now().Add(patience))
		}
	}
	if err != nil {
		return err
	}
	d.Draft.Now = d.env.Store.Now()
	for _, k := range d.attempts.Take(d.Draft.Now) {
		if k.Token {
			if err := d.expire(k); err != nil {
				return err
			}
			continue
		}
		d.attempts.Fired(k)
		if err := d.feed(scheduler.Event{Kind: scheduler.Fired, Unit: k.Unit}); err != nil {
			return err
		}
	}
	return nil
}

// finish processes the end of a call that another goroutine made.
func (d *Driver) finish(f executor.Finished) error {
	if !f.Known {
		return ErrStopped
	}
	d.keepReports()
	d.Draft.Ended(f.Call.Unit, f.At)
	return d.callEnded(f.Event)
}

// callEnded processes the end of a call. A failure may make the run give up attempts that other parties end.
func (d *Driver) callEnded(ev scheduler.Event) error {
	if ev.Failure != nil {
		if err := d.hear(); err != nil {
			return err
		}
		e := d.attempts.Of(ev.Unit)
		if early := e != nil && e.Early != nil; !ev.Revert && !early && d.AwaitsCalls() {
			d.mail.Hold(&ev)
			return nil
		}
	}
	if d.contested(&ev) {
		return d.contestedEnd(ev)
	}
	return d.feed(ev)
}
