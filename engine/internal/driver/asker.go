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

// An asker asks user code: languages, retry controllers and deciders.
type asker struct {
	*run
	stretch

	mode      *Mode
	att       *attention
	timers    *timers
	interrupt func() bool // is interrupts
}

// yields reports whether what the run computes is to wait. A run that is not in the
// store yet, where nobody could find it, gets there first.
func (q *asker) yields() bool {
	return q.attending || (q.wanted() || !q.Owns()) && q.next.Now.Sub(q.since) >= q.patience
}

// wanted reports whether there is something to look at.
func (q *asker) wanted() bool {
	return q.att.called() || isClosed(q.att.suspend) || q.timers.pass(q.next.Now)
}

// interrupts is asked by languages that take long whether their answer is still wanted.
func (q *asker) interrupts() bool {
	if q.interrupted || !q.att.answers.pause() { // who ignores it does not use the driver any more
		return true
	}
	defer q.att.answers.resume()
	if q.wanted() || !q.Owns() || len(q.timers.heap.list) > 0 {
		q.next.Now = time.Now()
		q.interrupted = q.yields()
	}
	return q.interrupted
}

// answered reports whether an answer is to be taken. One that was interrupted is not: the
// next may take twice as long, so that it is made at last.
func (q *asker) answered() bool {
	if q.interrupted {
		q.interrupted = false
		q.patience *= 2
		return false
	}
	q.patience = patience
	return true
}

// later postpones the question that is out.
func (q *asker) later() scheduler.Event {
	q.left = true
	return scheduler.Event{Kind: scheduler.Later}
}

// attend lets no question be answered until the returned function is called: what
// several messages say is looked at before anything follows from the first of them.
func (q *asker) attend() (done func()) {
	q.attending = true
	return func() { q.attending = false }
}
