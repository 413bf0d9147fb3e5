package driver

import (
	"time"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// patience is how long the decisions of a run may keep everything else waiting. Most runs
// reach their next call within this time, so decisions that belong together share a commit.
const patience = 100 * time.Millisecond

// A timeSlice is the time in which a run decides and handles nothing else. A run that only
// computes never waits. So if a command, a timer or a stop request is pending, a time slice
// that has lasted long enough ends before the next question, and a longer answer is
// interrupted. The driver asks the interrupted question again in the next time slice.
type timeSlice struct {
	since       time.Time
	patience    time.Duration // how long a time slice may last while something else is pending
	postponed   bool          // it ended with decisions left to make
	crowded     bool          // because the process lacks memory for them
	stopFollows bool          // a stop follows on what the language is told, so its answer does not end the run
	endHeld     bool          // such an answer was dropped
	telling     bool          // the decisions cannot wait, because the run is about to be stopped
	commanded   bool          // a command waits for what is being decided
	attending   bool          // the driver is handling a request: it answers no question meanwhile
	interrupted bool          // the current answer is no longer needed
}

// An asker asks user code: languages, retry controllers and deciders.
type asker struct {
	*run
	timeSlice

	mode      *Mode
	att       *attention
	open      *attempts.Table
	interrupt func() bool // is interrupts
}

// yields reports whether the decisions of the run must wait. A run that is not in the store yet is stored first,
// because no other process could resume it.
func (q *asker) yields() bool {
	return q.attending || (q.wanted() || !q.Owns()) && q.Draft.Now.Sub(q.since) >= q.patience
}

// wanted reports whether a request is pending.
func (q *asker) wanted() bool {
	return q.commanded || q.att.called() || isClosed(q.att.suspend) || q.open.HasPassed(q.Draft.Now)
}

// interrupts tells a slow language whether its answer is no longer needed.
func (q *asker) interrupts() bool {
	if q.interrupted || !q.att.answer.pause() { // an answer that was given up must not use the driver
		return true
	}
	defer q.att.answer.resume()
	if q.wanted() || !q.Owns() || q.open.MayPass() {
		q.Draft.Now = q.env.Store.Now()
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
	q.postponed = true
	return scheduler.Event{Kind: scheduler.Later}
}

// attend prevents answers until the returned function is called. The driver then applies several messages before it
// acts on the consequences of the first one.
func (q *asker) attend() (done func()) {
	q.attending = true
	return func() { q.attending = false }
}
