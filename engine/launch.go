package engine

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
)

// finished is a call that has ended.
type finished struct {
	call  *call
	event scheduler.Event
	known bool // false: it was stopped in the middle
	at    time.Time
}

// launch makes the calls that wait for a free place, as long as the process is
// not to stop. It returns errTaken when the run was taken from this goroutine
// meanwhile.
func (d *driver) launch() error {
	for len(d.calls) > 0 && d.ctx.Err() == nil && !d.quiets() {
		c := d.calls[0]
		isRetry := c.node == nil && d.plan.Atoms[c.atom].Kind() == atom.KindRetry
		if !isRetry && d.running >= d.e.parallel {
			return nil
		}
		d.calls[0] = nil
		d.calls, d.queued = d.calls[1:], nil
		if c.about.Revert {
			failpoint.Hit("engine.reverting")
		}
		serial := d.e.parallel == 1 && c.node == nil
		switch {
		case isRetry:
			ev, err := d.nextTry(c)
			if err != nil {
				return err
			}
			d.ended = append(d.ended, ev)
		case !d.feeding && c.timeout == 0 && (serial || d.lone()) && !d.waits():
			if err := d.makeHere(c); err != nil {
				return err
			}
		case serial:
			d.dispatch(c)
			d.await(c)
		default:
			d.dispatch(c)
		}
	}
	return nil
}

// quiets reports whether nothing more is to be begun.
func (d *driver) quiets() bool { return isClosed(d.quiet) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// queue lets a call wait to be made. An empty queue begins where the last one
// did, so that a call that waits alone does not need a buffer of its own.
func (d *driver) queue(c *call) {
	if len(d.calls) == 0 {
		d.calls = d.emptied
	}
	d.calls, d.queued = append(d.calls, c), nil
	if len(d.calls) == 1 {
		d.emptied = d.calls[:0]
	}
}

// lone reports whether a call would be the only one that is being made: then
// nothing else can begin before its end, and it need not be made elsewhere.
func (d *driver) lone() bool { return d.running == 0 && len(d.calls) == 0 && len(d.ended) == 0 }

// waits reports whether a timer may fire before a call has ended.
func (d *driver) waits() bool {
	_, waits := d.timers.next()
	return waits
}

// makeHere makes a call on the goroutine that drives the run, from which the run
// may be taken if it lasts. A call that was stopped in the middle has no end:
// wait notices that the process is to stop.
func (d *driver) makeHere(c *call) error {
	queued := len(d.calls) > 0 || len(d.ended) > 0
	if queued {
		d.tick()
		d.attemptOf(c).began = instantOf(d.now)
	}
	d.here.Store(c)
	if d.called() && d.here.CompareAndSwap(c, nil) {
		d.dispatch(c)
		return nil
	}
	returned := false
	defer func() {
		if !returned {
			d.takeOver()
			d.pool.report(c.vanished())
		}
	}()
	ev, known := c.make()
	returned = true
	c.life.end()
	if !d.here.CompareAndSwap(c, nil) {
		d.pool.report(finished{c, ev, known, d.e.now()})
		return errTaken
	}
	d.stale = true
	if !known {
		return nil
	}
	if queued { // it is taken in when the others have ended, too
		d.tick()
		d.attemptOf(c).ended = instantOf(d.now)
	}
	d.ended = append(d.ended, ev)
	return nil
}

// dispatch lets the call pool make a call.
func (d *driver) dispatch(c *call) {
	d.tick()
	d.attemptOf(c).began = instantOf(d.now)
	d.addDispatched(c)
	if c.timeout > 0 {
		d.giveUpAfter(c, c.timeout+d.e.grace)
	}
	d.pool.add(c)
}

// addDispatched adds a call to those that another goroutine makes.
func (d *driver) addDispatched(c *call) {
	c.flight = len(d.dispatched)
	d.dispatched = append(d.dispatched, c)
	d.running++
}

// isDispatched reports whether another goroutine is making a call.
func (d *driver) isDispatched(c *call) bool {
	return c.flight < len(d.dispatched) && d.dispatched[c.flight] == c
}

// await waits until a call has ended: so a serial engine begins one after the
// other what is ready at once. It gives up when something else wants to be seen
// to.
func (d *driver) await(c *call) {
	d.stale = true
	var due <-chan time.Time
	if at, ok := d.timers.next(); ok {
		t := time.NewTimer(at.Sub(d.e.now()))
		defer t.Stop()
		due = t.C
	}
	for d.isDispatched(c) && !d.look.Load() {
		if f, ok := d.pool.completed(); ok {
			d.comeBack(f)
			continue
		}
		select {
		case <-d.pool.some:
		case stuck := <-d.stuck:
			if d.giveUp(stuck) {
				d.ended = append(d.ended, d.lost(stuck))
			}
		case <-d.wake:
		case <-due:
			return
		case <-d.suspend:
			return
		case <-d.ctx.Done():
			return
		}
	}
}

// comeBack keeps the end of a call that was made elsewhere, to be taken in later.
func (d *driver) comeBack(f finished) {
	if f.call.givenUp {
		d.endedLate(f.call)
		return
	}
	d.completed(f.call)
	d.attemptOf(f.call).ended = instantOf(f.at)
	if f.known {
		d.ended = append(d.ended, f.event)
	}
}

// cancel ends what executes for an atom, or what was about to.
func (d *driver) cancel(cmd *scheduler.Command) {
	is := func(c *call) bool { return c.node == cmd.Node && c.atom == cmd.Atom && !c.about.Revert }
	if i := slices.IndexFunc(d.dispatched, is); i >= 0 {
		c := d.dispatched[i]
		c.life.end()
		if cmd.Abandoned {
			d.completed(c)
			c.givenUp = true
			d.closeToken(c.about.Path, false)
			return
		}
		c.told = true
		d.giveUpAfter(c, d.e.grace)
		return
	}
	if cmd.Abandoned {
		d.calls, d.queued = slices.DeleteFunc(d.calls, is), nil
		d.closeToken(keyOf(cmd).path(d), false)
		return
	}
	if c := d.waiting(keyOf(cmd)); c != nil {
		c.missing = &atom.Failure{Atom: c.about.Path, Code: atom.CodeCancelled, Message: "cancelled before it began"}
	}
}

// waiting returns the call of an atom that waits to be made, nil when there is none. Very
// many may wait and be cancelled one after the other, so they are found by a map.
func (d *driver) waiting(k timerKey) *call {
	if d.queued == nil {
		d.queued = make(map[timerKey]*call, len(d.calls))
		for _, c := range d.calls {
			if !c.about.Revert {
				d.queued[timerKey{node: c.node, atom: c.atom}] = c
			}
		}
	}
	return d.queued[k]
}

// finish takes in the end of a call that was made elsewhere.
func (d *driver) finish(f finished) error {
	if f.call.givenUp {
		d.endedLate(f.call)
		return nil
	}
	d.completed(f.call)
	if !f.known {
		return ErrStopped
	}
	d.keepReports()
	d.attemptOf(f.call).ended = instantOf(f.at)
	return d.callEnded(f.event)
}

// completed removes a call from those that other goroutines make.
func (d *driver) completed(c *call) {
	d.running--
	last := len(d.dispatched) - 1
	moved := d.dispatched[last]
	d.dispatched[c.flight], moved.flight = moved, c.flight
	d.dispatched[last] = nil
	d.dispatched = d.dispatched[:last]
	if c.late != nil {
		c.late.Stop()
	}
}
