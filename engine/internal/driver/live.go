package driver

import (
	"errors"
	"runtime/debug"
	"time"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// errTaken is what a goroutine is told that no longer drives the run.
var errTaken = errors.New("engine: another goroutine drives the run")

// Live drives the run to rest. The goroutine that called Run watches meanwhile:
// a lone call is made on the goroutine that drives, which spares the handing
// over, and when that call lasts while something else happens, the run is taken
// from it and driven by another. An answer that ignores what is wanted of the run is
// given up. Phases are yielded on the goroutine that watches.
func (d *Driver) Live(first *scheduler.OperatorCommand, rest []storage.Message) error {
	d.env.Inbox.Join(d.claim.Run, &d.att, d.Mode.Since)
	defer d.env.Inbox.Leave(d.claim.Run)
	if d.Mode.Yield != nil {
		d.att.steps = steps{entered: make(chan states.Engine), goOn: make(chan verdict, 1)}
	}
	go d.drive(func() error { return d.start(first, rest) })
	stop, suspend := d.ctx.Done(), d.env.Suspend
	var w watch
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

// outcome returns how the driving ended, or panics as the driving did. It releases
// the run first: the run resumes from its last commit when it is run again.
func (d *Driver) outcome(s stopped) error {
	if s.panics != nil {
		d.env.Runs.Release(d.storing, d.claim)
		panic(s.panics)
	}
	return s.err
}

// assurance is how long a store may take to say whose a run is: with a lease of ten
// seconds, the owner of one that says nothing has stopped before others may think
// so.
const assurance = 3 * time.Second

// takeOver takes the run from a goroutine that is in the middle of a call. What
// that goroutine was driving is then like any call made elsewhere.
func (d *Driver) takeOver() {
	c := d.att.here.Load()
	if c == nil || !d.att.here.CompareAndSwap(c, nil) {
		return
	}
	d.calls.Adopt(c)
	go d.drive(d.loop)
}

// stopped is how a goroutine ended that drove the run: with an error, or with a
// panic of an observer, which is passed on to who called Run.
type stopped struct {
	err    error
	panics any
}

// drive is the life of a goroutine that drives the run.
func (d *Driver) drive(work func() error) {
	var s stopped
	s.err = d.guarded(work, &s.panics)
	if errors.Is(s.err, errTaken) {
		return
	}
	d.stopAtoms()
	d.env.Buffers.Return(&d.next)
	d.s.Rest()
	d.att.rest <- s
}

func (d *Driver) guarded(work func() error, panics *any) error {
	defer func() {
		if *panics = recover(); *panics != nil {
			d.env.Log.Error("the run stops: a panic", "run", d.claim.Run, "panic", *panics, "stack", string(debug.Stack()))
		}
	}()
	return work()
}

// stopAtoms cancels what still executes, and waits for it as long as its grace
// lasts.
func (d *Driver) stopAtoms() {
	select {
	case <-d.env.Suspend: // what it drives beside itself comes to rest by itself, too
		d.children.group.Wait()
	default:
	}
	d.Close()
	d.calls.Stop()
	d.children.group.Wait()
}

// abandon ends the driving of a run whose answer was given up. What executes is told to
// stop, as when the process is to.
func (d *Driver) abandon(why error) error {
	d.env.GivenUp.Add(1)
	d.env.Log.Error("an answer about the run ignores that it is not wanted any more; it is given up",
		"run", d.claim.Run, "flow", d.plan.Flow, "grace", max(d.env.Calls.Grace, leastGrace))
	d.stopAtoms()
	if errors.Is(why, ErrAnswerGivenUp) && !d.Owns() { // there is no run to go on with
		return ErrStopped
	}
	return why
}

// yield yields a phase that the driver has entered. It reports false when the loop was
// left. If the loop panics, or its goroutine ends, the run stops first and is released.
func (d *Driver) yield(phase states.Engine) bool {
	v := stops
	defer func() {
		d.att.steps.goOn <- v
		if v == stops {
			<-d.att.rest
			d.env.Runs.Release(d.storing, d.claim)
		}
	}()
	if d.Mode.Yield(phase) {
		v = goesOn
		return true
	}
	v, d.att.steps.gone = comesRest, true
	return false
}

// ComesToRest reports, to the goroutine that called Live, whether the run is to come to rest.
func (d *Driver) ComesToRest() bool { return d.att.comesToRest() }
