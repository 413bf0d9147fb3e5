package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
)

// collect feeds all ends of calls that are at hand, so that they share a
// commit.
func (d *Driver) collect() error {
	d.keepReports()
	ended := d.ended
	d.ended = d.spare[:0] // what is launched meanwhile may end at once
	for _, ev := range ended {
		if err := d.callEnded(ev); err != nil {
			return err
		}
	}
	clear(ended)
	d.spare = ended
	for {
		f, ok := d.calls.Completed()
		if !ok {
			return nil
		}
		if err := d.finish(f); err != nil {
			return err
		}
		if d.yields() { // calls may end as fast as they are taken in
			d.look.Store(true)
			return nil
		}
	}
}

// wait sleeps until something happens: a call ends, a timer is due, the run is
// to be suspended, or the process is to stop.
func (d *Driver) wait() (err error) {
	if len(d.ended) > 0 || d.over != nil || d.quit || d.look.Load() {
		return nil
	}
	if d.ctx.Err() != nil {
		return ErrStopped
	}
	d.stale = true
	quiet := d.Mode.Quiet
	if d.quiets() {
		if d.calls.Running() == 0 {
			return ErrStopped
		}
		quiet = nil
	} else if d.left {
		return nil
	}
	var due <-chan time.Time
	if at, ok := d.timers.next(); ok {
		if d.calls.Running() == 0 {
			failpoint.Hit("engine.backoff")
		}
		t := time.NewTimer(at.Sub(time.Now()))
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
			} // else it was taken in already
		case <-due:
			return d.fire()
		case c := <-d.calls.Stuck():
			if ev, ok := d.calls.GiveUp(c); ok {
				return d.feed(ev)
			}
			return nil
		case <-d.suspend:
			return nil // analyze sees it
		case <-d.wake:
			return nil
		case <-quiet:
			return nil
		case <-d.ctx.Done():
			return ErrStopped
		}
	}
}

// tellAwaiting tells observers when only others can move the run on.
func (d *Driver) tellAwaiting() {
	if d.calls.Running() > 0 || len(d.external) == 0 && (!d.Grows() || !d.s.Listens()) {
		return
	}
	for _, f := range d.env.Observers {
		f(Event{Run: d.claim.Run, Flow: d.about.Flow, Kind: OthersAwaited, Time: d.next.Now})
	}
}

// leaves reports whether the run must be released because it only waits. If so, the
// next commit releases the run.
func (d *Driver) leaves() bool {
	if !d.Mode.Unload || d.calls.Running() > 0 || len(d.ended) > 0 || d.over != nil || d.quit || d.left || d.look.Load() || !d.s.Waits() {
		return false
	}
	due, waits := d.timers.next()
	if waits && !due.After(time.Now()) {
		return false
	}
	d.next.Head.Release, d.next.Head.Due, d.next.Head.Wakeups, d.next.Dirty = true, due, d.wakeups, true
	return true
}

// fire feeds the waits that are over.
func (d *Driver) fire() error {
	d.next.Now = time.Now()
	for _, k := range d.timers.due(d.next.Now) {
		if k.token {
			if err := d.expire(k); err != nil {
				return err
			}
			continue
		}
		if k.kind() != storage.TimerDeadline { // that one holds until the run has ended
			d.next.Timer(k.path(d), k.kind(), time.Time{})
		}
		if err := d.feed(scheduler.Event{Kind: scheduler.Fired, Atom: k.atom, Node: k.node}); err != nil {
			return err
		}
	}
	return nil
}
