package driver

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// errTaken is the error of a goroutine that no longer drives the run.
var errTaken = errors.New("engine: another goroutine drives the run")

// Live drives the run to rest on a goroutine of its own. The calling goroutine watches meanwhile, and yields the
// phases. The driving goroutine makes a single call itself, which saves a switch of goroutines. If a request
// arrives during that call, another goroutine takes the run over and drives it. Live gives up an answer that blocks
// the run.
func (d *Driver) Live(first *scheduler.OperatorCommand, rest []storage.Message) (err error) {
	end := d.boundLog()
	defer func() { end(err) }()
	d.env.Inbox.Join(d.Claim.Run, &d.att, d.Mode.Since)
	defer d.env.Requests.Left(d.Claim.Run)
	defer d.env.Inbox.Leave(d.Claim.Run, &d.att)
	if d.env.Memory.Budget > 0 && d.Grows() {
		d.env.Memory.Shares.Set(d.Claim.Run, d.needs())
		defer d.env.Memory.Shares.Leave(d.Claim.Run)
	}
	if d.Mode.Yield != nil {
		d.att.steps = steps{entered: make(chan states.Engine), goOn: make(chan decision, 1)}
	}
	go d.drive(func() error { return d.start(first, rest) })
	stop, suspend := d.ctx.Done(), d.env.Suspend
	var w answerTimeout
	defer w.end()
	for {
		select {
		case s := <-d.att.rest:
			return d.outcome(s)
		case <-w.due:
			if err := d.att.giveUpAnswer(&w); err != nil {
				return d.abandon(err)
			}
			continue
		case phase := <-d.att.steps.entered:
			if !d.yield(phase) {
				w.begin()
			}
			continue
		case <-suspend:
			suspend = nil
			w.begin()
			continue
		case <-stop:
			stop = nil
		case <-d.att.handoff:
		}
		d.takeOver()
		w.begin()
	}
}

// outcome returns how driving ended. If driving ended with a panic, outcome releases the run and panics with the
// same value. The run later resumes from its last commit.
func (d *Driver) outcome(s stopped) error {
	if s.panics != nil {
		d.env.Runs.Release(d.storing, d.Claim)
		panic(s.panics)
	}
	return s.err
}

// assurance bounds how long the store may take to report which process owns a run. With a lease of ten seconds, an
// owner whose store does not answer then stops before another process may declare it dead.
const assurance = 3 * time.Second

// takeOver takes the run from a goroutine that is making a call. That call then counts as a call of the executor.
func (d *Driver) takeOver() {
	c := d.att.here.Load()
	if c == nil || !d.att.here.CompareAndSwap(c, nil) {
		return
	}
	d.calls.Adopt(c)
	go d.drive(d.loop)
}

// stopped is how the driving goroutine ended: with an error, or with a panic of the engine, which Run passes to its
// caller.
type stopped struct {
	err    error
	panics any
}

// errVanished is the error of a run whose driving goroutine ended, because of code of users without a guard, such as a
// logger.
var errVanished = fmt.Errorf("engine: the run stopped at its last checkpoint: %w", guard.ErrEnded)

// drive is the body of the driving goroutine.
func (d *Driver) drive(work func() error) {
	s, gone := stopped{err: errVanished}, false
	d.att.gone = &gone
	defer func() {
		if gone || errors.Is(s.err, errTaken) {
			return
		}
		if s.panics = recover(); s.panics != nil {
			d.env.Log.Error(logevent.RunPanicked, "run", d.Claim.Run, "flow", d.about.Flow, "panic", s.panics, "stack",
				string(debug.Stack()))
		}
		d.leaveRequests(s.err)
		d.stopAtoms()
		d.env.Buffers.Return(&d.Draft)
		d.s.Rest()
		d.att.rest <- s
	}()
	s.err = work()
}

// stopAtoms cancels running calls, and waits for them up to the grace period.
func (d *Driver) stopAtoms() {
	select {
	case <-d.env.Suspend: // child runs come to rest by themselves, too
		d.children.group.Wait()
	default:
	}
	d.Close()
	d.calls.Stop()
	d.children.group.Wait()
}

// abandon stops driving a run whose answer was given up. It cancels running calls, as when the process must stop.
func (d *Driver) abandon(why error) error {
	d.env.GivenUp.Add(1)
	d.env.Log.Error(logevent.AnswerAbandoned, "run", d.Claim.Run, "flow", d.plan.Flow,
		"grace", logevent.Duration(max(d.env.Calls.Grace, leastGrace)))
	d.leaveRequests(why)
	d.stopAtoms()
	if errors.Is(why, ErrAnswerGivenUp) && !d.Owns() { // another process owns the run: it cannot be resumed here
		return ErrStopped
	}
	return why
}

// yield yields a phase that the driver has entered. It returns false if the loop was left. If the loop panics, or
// its goroutine ends, yield first stops and releases the run.
func (d *Driver) yield(phase states.Engine) bool {
	v := stops
	defer func() {
		d.att.steps.goOn <- v
		if v == stops {
			<-d.att.rest
			d.env.Runs.Release(d.storing, d.Claim)
		}
	}()
	if d.Mode.Yield(phase) {
		v = goesOn
		return true
	}
	v, d.att.steps.gone = comesRest, true
	return false
}

// HasAnswered reports whether the driver has answered a request, or has ended one that cannot be answered.
func (d *Driver) HasAnswered() bool { return d.requests.ended > 0 }

// ComesToRest reports whether the run must come to rest. Only the goroutine that called Live may call it.
func (d *Driver) ComesToRest() bool { return d.att.comesToRest() }
