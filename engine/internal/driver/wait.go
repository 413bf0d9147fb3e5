package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
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
			return d.endHeld()
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
	d.stale = true
	quiet := d.Mode.Quiet
	if d.att.quiets() {
		if d.calls.Running() == 0 && d.children.busy.Load() == 0 {
			return ErrStopped
		}
		quiet = nil
	} else if d.ask.left {
		return nil
	}
	var due <-chan time.Time
	if at, ok := d.timers.nearest(); ok {
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
		case <-d.ctx.Done():
			return ErrStopped
		}
	}
}

// tellAwaiting notifies observers if the run only waits for other parties.
func (d *Driver) tellAwaiting() {
	if d.calls.Running() > 0 || len(d.tokens.open) == 0 && (!d.Grows() || !d.s.Listens()) {
		return
	}
	d.env.Tell(Event{Run: d.claim.Run, Flow: d.about.Flow, Kind: OthersAwaited, Time: d.next.Now})
}

// leaves reports whether the run must be released because it only waits. If so, the
// next commit releases the run.
func (d *Driver) leaves() bool {
	if !d.Mode.Unload || d.calls.Running() > 0 || len(d.ends.list) > 0 || d.cycle.over != nil || d.att.quit ||
		d.ask.left || d.att.look.Load() || !d.s.Waits() || d.children.busy.Load() > 0 ||
		len(d.children.begun) > 0 && !d.Mode.Answer {
		return false
	}
	due, waits := d.timers.nearest()
	if waits && !due.After(d.env.Store.Now()) {
		return false
	}
	d.release(due)
	return true
}

// release makes the next commit release the run, which is then due at that time.
func (d *Driver) release(due time.Time) {
	d.next.Head.Release, d.next.Head.Due, d.next.Head.Wakeups, d.next.Dirty = true, due, d.box.released(false), true
}

// leaveDue releases a run that is driven only to answer requests, and that has calls to make: it is due for a process
// that serves.
func (d *Driver) leaveDue() error {
	if len(d.ends.list) > 0 || d.ask.left {
		return nil
	}
	d.release(d.next.Now)
	if err := d.flush(); err != nil {
		return err
	}
	return ErrWaiting
}

// unchanged reports whether a run that is driven only to answer requests can be left as it is in the store. If so, it
// gives the answers to the callers.
func (d *Driver) unchanged() (bool, error) {
	q := &d.box.requests
	if !d.Mode.Answer || d.next.Dirty || d.Owns() || d.ask.left || len(q.list) > 0 || q.asking != nil {
		return false, nil
	}
	if len(q.answered) > 0 {
		if err := (responder{d}).current(); err != nil {
			return false, err
		}
	}
	responder{d}.deliver()
	return true, nil
}

// overdue reports whether the run's deadline has passed, and was not noticed yet.
func (d *Driver) overdue() bool {
	at, ok := d.timers.at[deadline]
	return ok && d.cycle.over == nil && !at.After(d.env.Store.Now())
}

// fire feeds the timers that are due.
func (d *Driver) fire() error {
	err := d.hear()
	if err == nil && d.overdue() {
		if err = d.endAccepted(); err == nil && d.awaitsCalls() {
			d.timers.set(deadline, d.env.Store.Now().Add(patience))
		}
	}
	if err != nil {
		return err
	}
	d.next.Now = d.env.Store.Now()
	for _, k := range d.timers.due(d.next.Now) {
		if k.token {
			if err := (ending{d}).expire(k); err != nil {
				return err
			}
			continue
		}
		if k.kind() != storage.TimerDeadline { // the deadline timer stays until the run has ended
			d.next.Timer(k.path(&d.run), k.kind(), time.Time{})
		}
		if err := d.feed(scheduler.Event{Kind: scheduler.Fired, Atom: k.atom, Node: k.node}); err != nil {
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
	d.next.Ended(f.Call.Node, f.Call.Atom, f.At)
	return d.callEnded(f.Event)
}

// callEnded processes the end of a call. A failure may make the run give up attempts that other parties end.
func (d *Driver) callEnded(ev scheduler.Event) error {
	if ev.Failure != nil {
		if err := d.hear(); err != nil {
			return err
		}
		if d.holdFailure(&ev) {
			return nil
		}
	}
	if (ending{d}).contested(&ev) {
		return ending{d}.contestedEnd(ev)
	}
	return d.feed(ev)
}
