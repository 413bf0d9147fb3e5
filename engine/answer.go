package engine

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// answers are what user code decides about a run: those of languages, retry controllers
// and deciders. Nearly all take microseconds, so they are made on the goroutine that
// drives the run. One that goes on after it was to be interrupted holds up everything
// else. It is given up like a call that ignores its context: the goroutine that called
// Run takes the run from it, and the run goes on from its last commit, see
// [Engine.resumeWithoutAnswer]. What the answer still returns is ignored.
type answers struct {
	made int64        // so far, by the goroutine that drives
	out  atomic.Int64 // the one that is being made, negative while it uses the driver
}

const (
	noAnswer   = 0             // none is being made
	wasGivenUp = math.MinInt64 // the goroutine that made one may use the driver no more
)

// errAnswerGivenUp is why the driving of a run ends whose answer was given up, while
// something is wanted of the run.
var errAnswerGivenUp = errors.New("engine: an answer was given up")

// begin leaves the goroutine to user code.
func (a *answers) begin() {
	a.made++
	a.out.Store(a.made)
}

// end reports whether the goroutine may go on, because the answer was not given up.
func (a *answers) end() bool { return a.out.CompareAndSwap(a.made, noAnswer) }

// pause lets what user code calls use the driver, until resume. It reports false when the
// answer was given up.
func (a *answers) pause() bool { return a.out.CompareAndSwap(a.made, -a.made) }

func (a *answers) resume() { a.out.Store(a.made) }

// endAnswer is deferred around user code. It ends the goroutine when the answer was given
// up meanwhile: the driver is no longer its own.
func (d *driver) endAnswer() {
	if d.answers.end() {
		return
	}
	_ = recover() // it may as well have panicked
	d.e.log.Warn("an answer that was given up has been made after all; it is ignored", "run", d.claim.Run)
	runtime.Goexit()
}

func (d *driver) grow(ask *flow.Ask) flow.Growth {
	defer d.endAnswer()
	d.answers.begin()
	return d.language().Grow(ask)
}

func (d *driver) decideFailure(c atom.Controller, tries atom.History, in atom.Values) (atom.Decision, error) {
	defer d.endAnswer()
	d.answers.begin()
	return c.OnFailure(tries, in)
}

func (d *driver) nextValue(c atom.Controller, tries atom.History, in atom.Values) (atom.Value, error) {
	defer d.endAnswer()
	d.answers.begin()
	return c.Next(tries, in)
}

func (d *driver) undoTries(ctx context.Context, u atom.Undoer, tries atom.History, failures []*atom.Failure) error {
	defer d.endAnswer()
	d.answers.begin()
	return u.Undo(ctx, tries, failures)
}

func (d *driver) vote(dec *flow.Decider, value atom.Value, results flow.Results) (bool, error) {
	defer d.endAnswer()
	d.answers.begin()
	return dec.Decide(value, results)
}

// setDeadline sets when the run is to be over. An answer may be under way then.
func (d *driver) setDeadline(due time.Time) {
	d.timers.set(deadline, due)
	d.due.Store(due.UnixNano())
	if d.expiry != nil {
		d.expiry.Stop()
	}
	d.expiry = time.AfterFunc(due.Sub(d.e.now()), d.Wake)
}

// leastGrace is how long an answer may at least take that is not wanted any more: on a
// busy machine one that asks may come to that late.
const leastGrace = time.Second

// A watch looks for an answer that ignores that something is wanted of the run.
type watch struct {
	timer  *time.Timer
	due    <-chan time.Time // the next look; nil when there is none
	answer int64
	since  time.Time // when that answer was seen first
}

// begin looks from now on, as something may be wanted.
func (w *watch) begin() {
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

func (w *watch) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// giveUpAnswer gives up the answer that is being made if it should have been by now. It
// returns why, and nil when there is none such. The driver is the caller's then.
func (d *driver) giveUpAnswer(w *watch) error {
	n, now := d.answers.out.Load(), d.e.now()
	if n = max(n, -n); n != w.answer {
		w.answer, w.since = n, now
	}
	again := n != noAnswer || d.called()
	if n != noAnswer && now.Sub(w.since) >= max(d.e.calls.Grace, leastGrace) {
		why, err := d.reasonToGiveUp(now)
		if why != nil && d.answers.out.CompareAndSwap(n, wasGivenUp) {
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

// reasonToGiveUp returns why an answer is to be given up, nil when nothing demands that. A
// message that is no command waits for the answer.
func (d *driver) reasonToGiveUp(now time.Time) (why, err error) {
	due := d.due.Load()
	switch {
	case d.ctx.Err() != nil:
		return ErrStopped, nil
	case isClosed(d.e.suspend), due != 0 && now.UnixNano() >= due:
		return errAnswerGivenUp, nil
	}
	ctx, cancel := context.WithTimeout(d.storing, assurance)
	defer cancel()
	_, messages, err := d.e.store.Messages(ctx, d.claim.Run)
	if err == nil && slices.ContainsFunc(messages, func(l storage.Message) bool { _, is := commandOf(&l); return is }) {
		return errAnswerGivenUp, nil
	}
	return nil, err
}

// abandon ends the driving of a run whose answer was given up. What executes is told to
// stop, as when the process is to.
func (d *driver) abandon(why error) error {
	d.e.givenUp.Add(1)
	d.e.log.Error("an answer about the run ignores that it is not wanted any more; it is given up",
		"run", d.claim.Run, "flow", d.plan.Flow, "grace", max(d.e.calls.Grace, leastGrace))
	d.stopAtoms()
	if errors.Is(why, errAnswerGivenUp) && !d.owns() { // there is no run to go on with
		return ErrStopped
	}
	return why
}

// resumeWithoutAnswer goes on with a run whose answer was given up, from its last commit, with
// what is wanted of it. Its language is not asked any more what it says to the end of
// the run.
func (e *Engine) resumeWithoutAnswer(ctx context.Context, d *driver, opts []RunOption) (*Result, error) {
	opts = slices.DeleteFunc(slices.Clone(opts), func(o RunOption) bool { _, is := o.(ignoreSuspend); return is })
	next, snap, err := e.begun(ctx, d.claim.Run, e.store.Seize, opts)
	if err != nil {
		return nil, err
	}
	next.unload, next.quiet, next.slot, next.urgent = d.unload, d.quiet, d.slot, true
	return e.finish(ctx, next, snap, toGoOn, opts)
}

// notTold is the answer to a cause that a language is not told.
func (d *driver) notTold(c *flow.Cause) (g flow.Growth, is bool) {
	if !d.urgent || c.Kind != flow.Stopped && c.Kind != flow.Overdue {
		return g, false
	}
	return flow.Growth{End: &flow.End{Failure: c.Failure, TimedOut: c.Kind == flow.Overdue}}, true
}
