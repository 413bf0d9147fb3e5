package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// patience is how long what a run computes may keep everything else waiting. Most runs
// come to their next call within it, so what is decided together stays together.
const patience = 100 * time.Millisecond

// A stretch is the time in which a run decides and looks at nothing else. A run that only
// computes never waits. So when something else wants to be looked at, such as a command,
// a timer, or that the process is to stop, a stretch that has lasted long enough ends
// before the next question is answered, and an answer that takes longer is interrupted.
// What was asked is asked again in the next stretch.
type stretch struct {
	since       time.Time
	patience    time.Duration // how long is long enough
	left        bool          // it ended before there was nothing left to decide on
	attending   bool          // something else is being looked at: nothing is answered meanwhile
	interrupted bool          // the answer that is being made is not wanted
}

// yields reports whether what the run computes is to wait. A run that is not in the
// store yet, where nobody could find it, gets there first.
func (d *Driver) yields() bool {
	return d.attending || (d.wanted() || !d.Owns()) && d.next.Now.Sub(d.since) >= d.patience
}

// wanted reports whether there is something to look at.
func (d *Driver) wanted() bool { return d.called() || isClosed(d.suspend) || d.timers.pass(d.next.Now) }

// interrupts is asked by languages that take long whether their answer is still wanted.
func (d *Driver) interrupts() bool {
	if d.interrupted || !d.answers.pause() { // who ignores it does not use the driver any more
		return true
	}
	defer d.answers.resume()
	if d.wanted() || !d.Owns() || len(d.timers.heap.list) > 0 {
		d.next.Now = time.Now()
		d.interrupted = d.yields()
	}
	return d.interrupted
}

// answered reports whether an answer is to be taken. One that was interrupted is not: the
// next may take twice as long, so that it is made at last.
func (d *Driver) answered() bool {
	if d.interrupted {
		d.interrupted = false
		d.patience *= 2
		return false
	}
	d.patience = patience
	return true
}

// later postpones the question that is out.
func (d *Driver) later() scheduler.Event {
	d.left = true
	return scheduler.Event{Kind: scheduler.Later}
}

// attend lets no question be answered until the returned function is called: what
// several messages say is looked at before anything follows from the first of them.
func (d *Driver) attend() (done func()) {
	d.attending = true
	return func() { d.attending = false }
}
