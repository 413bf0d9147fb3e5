package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// patience is how long the decisions of a run may keep everything else waiting. Most runs
// reach their next call within this time, so decisions that belong together share a commit.
const patience = 100 * time.Millisecond

// A stretch is the time in which a run decides and handles nothing else. A run that only
// computes never waits. So if a command, a timer or a stop request is pending, a stretch
// that has lasted long enough ends before the next question, and a longer answer is
// interrupted. The driver asks the interrupted question again in the next stretch.
type stretch struct {
	since       time.Time
	patience    time.Duration // how long a stretch may last while something else is pending
	left        bool          // it ended with decisions left to make
	attending   bool          // the driver is handling a request: it answers no question meanwhile
	interrupted bool          // the current answer is no longer needed
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

// yields reports whether the decisions of the run must wait. A run that is not in the store yet is stored first,
// because no other process could resume it.
func (q *asker) yields() bool {
	return q.attending || (q.wanted() || !q.Owns()) && q.next.Now.Sub(q.since) >= q.patience
}

// wanted reports whether a request is pending.
func (q *asker) wanted() bool {
	return q.att.called() || isClosed(q.att.suspend) || q.timers.pass(q.next.Now)
}

// interrupts tells a slow language whether its answer is no longer needed.
func (q *asker) interrupts() bool {
	if q.interrupted || !q.att.answers.pause() { // an answer that was given up must not use the driver
		return true
	}
	defer q.att.answers.resume()
	if q.wanted() || !q.Owns() || len(q.timers.heap.list) > 0 {
		q.next.Now = q.env.Store.Now()
		q.interrupted = q.yields()
	}
	return q.interrupted
}

// answered reports whether to use an answer. An interrupted answer is not used: the next
// one may take twice as long, so that it completes in the end.
func (q *asker) answered() bool {
	if q.interrupted {
		q.interrupted = false
		q.patience *= 2
		return false
	}
	q.patience = patience
	return true
}

// later postpones the open question.
func (q *asker) later() scheduler.Event {
	q.left = true
	return scheduler.Event{Kind: scheduler.Later}
}

// attend prevents answers until the returned function is called. The driver then applies several messages before it
// acts on the consequences of the first one.
func (q *asker) attend() (done func()) {
	q.attending = true
	return func() { q.attending = false }
}
