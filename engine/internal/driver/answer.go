package driver

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
)

// A pendingAnswer is a decision of user code about a run: that of a language, a retry controller or a decider. Nearly
// all take microseconds, so the driving goroutine waits for them. An answer that continues after an
// interrupt blocks the run. The driver gives it up, like a call that ignores its context: the goroutine that called
// Run takes the run from the driving goroutine, and the run resumes from its last commit, see [ErrAnswerGivenUp]. A
// late result is ignored.
type pendingAnswer struct {
	made int64        // number of answers so far; used by the driving goroutine
	out  atomic.Int64 // the answer in progress, negative while it uses the driver
}

const (
	noAnswer   = 0             // no answer is in progress
	wasGivenUp = math.MinInt64 // the goroutine of the answer must not use the driver any longer
)

// begin records that the driving goroutine waits for user code.
func (a *pendingAnswer) begin() {
	a.made++
	a.out.Store(a.made)
}

// end reports whether the goroutine may continue, because the answer was not given up.
func (a *pendingAnswer) end() bool { return a.out.CompareAndSwap(a.made, noAnswer) }

// pause lets functions that user code calls use the driver, until resume. It reports false
// if the answer was given up.
func (a *pendingAnswer) pause() bool { return a.out.CompareAndSwap(a.made, -a.made) }

func (a *pendingAnswer) resume() { a.out.Store(a.made) }

// answer lets user code decide, see [guard.Call]. If the answer was given up meanwhile, answer ends the goroutine,
// which no longer owns the driver.
func (q *asker) answer(decide func()) error {
	gone := q.att.gone
	q.att.answer.begin()
	err := guard.Call(decide)
	if !q.att.answer.end() {
		q.env.Log.Warn(logevent.AnswerEndedLate, "run", q.Claim.Run)
		*gone = true
		runtime.Goexit()
	}
	return err
}

// setDeadline sets the run's deadline. An answer may be in progress.
func (d *Driver) setDeadline(due time.Time) {
	d.attempts.Set(attempts.Deadline, due)
	a := &d.att
	a.due.Store(due.UnixMicro()) // nanoseconds end in 2262
	if a.expiry != nil {
		a.expiry.Stop()
	}
	a.expiry = time.AfterFunc(due.Sub(a.run.env.Store.Now()), a.Wake)
}

// leastGrace is the minimum time that an unwanted answer gets to stop. On a busy machine,
// even an answer that checks whether it is still wanted may check late.
const leastGrace = time.Second

// An answerTimeout finds an answer that keeps the run from reacting to a request.
type answerTimeout struct {
	timer  *time.Timer
	due    <-chan time.Time // the next look; nil when there is none
	answer int64
	since  time.Time // when that answer was seen first
}

// begin starts the timeout, because there may be a request.
func (w *answerTimeout) begin() {
	switch {
	case w.due != nil:
		return
	case w.timer == nil:
		w.timer = time.NewTimer(patience)
	default:
		w.timer.Reset(patience)
	}
	w.answer, w.due = noAnswer, w.timer.C
}

func (w *answerTimeout) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// giveUpAnswer gives up the current answer if it is overdue, and returns the reason. The caller then owns the
// driver. If no answer is overdue, giveUpAnswer returns nil.
func (a *attention) giveUpAnswer(w *answerTimeout) error {
	n, now := a.answer.out.Load(), a.run.env.Store.Now()
	if n = max(n, -n); n != w.answer {
		w.answer, w.since = n, now
	}
	again := n != noAnswer || a.called() || a.comesToRest()
	if n != noAnswer && now.Sub(w.since) >= max(a.run.env.Calls.Grace, leastGrace) {
		why, err := a.reasonToGiveUp(now)
		if why != nil && a.answer.out.CompareAndSwap(n, wasGivenUp) {
			return why
		}
		again = err != nil || why != nil
	}
	w.due = nil
	if again {
		answer, since := w.answer, w.since
		w.begin()
		w.answer, w.since = answer, since
	}
	return nil
}

// reasonToGiveUp returns why an answer must be given up, or nil if there is no reason. A
// message that is not a command waits for the answer.
func (a *attention) reasonToGiveUp(now time.Time) (why, err error) {
	due := a.due.Load()
	switch {
	case a.run.ctx.Err() != nil:
		return ErrStopped, nil
	case a.comesToRest(), due != 0 && now.UnixMicro() >= due:
		return ErrAnswerGivenUp, nil
	}
	ctx, cancel := context.WithTimeout(a.run.storing, assurance)
	defer cancel()
	_, messages, err := backend.AllMessages(ctx, a.run.env.Store, a.run.Claim.Run)
	if err == nil && inbox.HasCommand(messages) {
		return ErrAnswerGivenUp, nil
	}
	return nil, err
}

func (a *attention) comesToRest() bool { return a.steps.gone || isClosed(a.run.env.Suspend) }

// notTold returns the answer to a cause that is not passed to the language, and whether it is such a cause.
func (q *asker) notTold(c *grow.Cause) (g grow.Growth, is bool) {
	if !q.mode.Urgent || c.Kind != grow.Stopped && c.Kind != grow.Overdue {
		return g, false
	}
	return grow.Growth{End: &grow.End{Failure: c.Failure, TimedOut: c.Kind == grow.Overdue}}, true
}
