package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Driver drives one run. All of it belongs to the goroutine that drives; a lone call is
// made on it, too, and others by the executor.
type Driver struct {
	env *Env
	// Mode may be set until Live is called.
	Mode Mode
	plan *flow.Plan
	s    *scheduler.Scheduler
	ctx  context.Context // of Run: when it ends, the process wants to stop
	// storing is the context of the store's own work: that is not given up half
	// way because the process is to stop.
	storing context.Context
	tasks   Tasks
	claim   storage.Claim
	about   flow.Run
	secrets storage.Secrets
	stale   bool // time has passed since what was decided on last: something was waited for, or called

	next      checkpoint.Draft // what is committed next, at the time that is now
	attempted bool             // an attempt of an atom of the plan was begun
	watched   bool             // observers or the log are told of events
	notes     []Event
	broken    atomic.Pointer[StoreError] // what the store said when it failed an atom
	undos     int64
	stack     []storage.Undo // a page of the undo stack, newest first

	calls      executor.Executor
	here       atomic.Pointer[executor.Call] // what the goroutine that drives is in the middle of
	look       atomic.Bool                   // something wants to be looked at
	mail       atomic.Bool                   // messages have come
	doubted    atomic.Bool                   // another process may have taken the run over
	wake       chan struct{}                 // calls who drives
	handoff    chan struct{}                 // calls who watches
	rest       chan stopped                  // how the driving ended
	wakeups    int64                         // counter up to which messages were read: it is the number of the last that was
	unread     []storage.Message             // messages that were read and that no atom waited for yet
	awaited    bool                          // an atom has begun to wait that one of them may be for
	external   map[string]*external          // attempts that may be ended from elsewhere, by path
	parent     string                        // id of the run that began this one
	root       string                        // see storage.Run
	depth      int64                         // see storage.Run
	born       int64                         // descendants of the root, as last read
	counted    bool                          // born was read since the last commit
	barren     *atom.Failure                 // the limit that keeps the run from creating another one
	trace      string                        // traceparent of the caller that began it
	job        string                        // id of the job that the run was created for
	children   map[string]*scheduler.Node    // which node a run is of that is waited for, or being undone
	childRuns  []childRun                    // runs to be driven with this one, once that is committed
	childSlots sync.WaitGroup
	feeding    bool              // the scheduler's commands are being done
	handOvers  []handOver        // calls that workers make, and that the scheduler is not told of yet
	ended      []scheduler.Event // of calls made on this goroutine
	spare      []scheduler.Event // buffer for the next of them
	timers     timers
	found      []storage.TimerRow // timers the run was loaded with
	over       *scheduler.Command
	phase      states.Engine
	suspend    <-chan struct{} // closed when the run is to come to rest; nil once that was seen
	quit       bool            // the run is to come to rest
	aside      *atom.Failure   // why no process may resume the run before an operator decides; may be nil
	progressed bool            // the last events led to commands
	stretch                    // of deciding
	answers    answers         // of user code
	due        atomic.Int64    // when the run is to be over, in Unix nanoseconds; 0 for never
	expiry     *time.Timer     // calls who drives, and who watches, then
	interrupt  func() bool     // is interrupts
	whole      bool            // the commands being done are to be committed together
	unwatch    func() bool     // stop waiting for ctx to end
}

// start takes the run up and drives it to rest.
func (d *Driver) start(first *scheduler.OperatorCommand, rest []storage.Message) error {
	d.enter(states.EngineResuming)
	d.stale = true
	if err := d.rejoin(); err != nil {
		return err
	}
	if d.since = time.Now(); d.Mode.Urgent {
		d.since = time.Time{} // what is wanted comes before the next answer
	}
	if len(rest) > 0 {
		d.look.Store(true) // they are looked at soon, whatever there is to decide
	}
	if err := d.feed(scheduler.Event{Kind: scheduler.Begin, Fresh: true, OperatorCommand: first}); err != nil {
		return err
	}
	if err := d.decide(); err != nil {
		return err
	}
	if err := d.follow(rest); err != nil {
		return err
	}
	if err := d.settle(); err != nil {
		return err
	}
	return d.loop()
}

// loop runs until the run has come to rest, the process is to stop, or the
// store fails. Its phases are those of TaskFlow's engine.
func (d *Driver) loop() error {
	for d.phase != states.EngineGameOver {
		var err error
		switch d.phase {
		case states.EngineResuming, states.EngineAnalyzing:
			d.enter(d.nextPhase())
		case states.EngineScheduling:
			if d.calls.Queued() > 0 { // else the same commit may release the run
				if err = d.flush(); err == nil {
					err = d.launch()
				}
			}
			if err == nil {
				d.enter(states.EngineWaiting)
			}
		default: // waiting
			leave := d.leaves()
			if err = d.flush(); err == nil && leave {
				err = ErrWaiting
			}
			if err == nil {
				err = d.wait()
			}
			if err == nil {
				d.enter(states.EngineAnalyzing)
				err = d.analyze()
			}
		}
		if err != nil {
			return err
		}
	}
	if err := d.flush(); err != nil {
		return err
	}
	d.enter(ends[d.over.FlowTo])
	return nil
}

// nextPhase returns the phase that follows on resuming and on analyzing.
func (d *Driver) nextPhase() states.Engine {
	switch {
	case d.phase == states.EngineResuming || d.calls.Queued() > 0:
		return states.EngineScheduling
	case d.over != nil:
		return states.EngineGameOver
	default:
		return states.EngineWaiting
	}
}

var ends = map[states.Flow]states.Engine{
	states.FlowSuccess: states.EngineSuccess, states.FlowReverted: states.EngineReverted,
	states.FlowSuspended: states.EngineSuspended, states.FlowFailure: states.EngineFailure,
}

// enter changes the phase, as its table allows.
func (d *Driver) enter(to states.Engine) {
	if err := states.Check(d.phase, to); err != nil {
		panic(err) // a defect of this file
	}
	d.phase = to
	if d.Mode.Yield != nil && !d.Mode.Yield(to) {
		d.Mode.Yield, d.quit = nil, true
	}
}

// analyze processes the calls that have ended and decides what follows. A request
// to suspend comes first. Calls that ended before the driver saw the request then
// begin nothing new.
func (d *Driver) analyze() error {
	d.look.Store(false)
	d.stale = true
	d.tick()
	d.since = d.next.Now
	if err := d.broken.Load(); err != nil {
		return err
	}
	if err := d.assure(); err != nil {
		return err
	}
	if d.over == nil && d.mail.Swap(false) { // else the run is released, and due because of them
		if err := d.readMessages(); err != nil {
			return err
		}
	}
	if err := d.applySuspendRequest(); err != nil {
		return err
	}
	if err := d.collect(); err != nil {
		return err
	}
	if d.timers.pass(d.next.Now) {
		if err := d.fire(); err != nil {
			return err
		}
	}
	if err := d.rereadMessages(); err != nil {
		return err
	}
	return d.settle()
}

// applySuspendRequest passes a request to suspend on to the scheduler. The request may come
// between any two of the scheduler's commands. The remaining commands stay as they
// are.
func (d *Driver) applySuspendRequest() error {
	if isClosed(d.suspend) {
		d.suspend, d.quit = nil, true
	}
	if !d.quit {
		return nil
	}
	d.quit = false
	cmds := d.s.Step(scheduler.Event{Kind: scheduler.Suspend})
	for i := range cmds {
		if err := d.keep(&cmds[i]); err != nil {
			return err
		}
	}
	return nil
}

// tick brings now up to date, if time may have passed. What is decided on in one
// go happens at one time.
func (d *Driver) tick() {
	if d.stale {
		d.next.Now, d.stale = time.Now(), false
	}
}

// decide lets the scheduler decide until there is nothing left to decide on, or
// something else wants to be looked at.
func (d *Driver) decide() error {
	d.left = false
	for d.progressed = true; d.progressed && d.over == nil && !d.left; {
		if d.next.Full() {
			if err := d.flush(); err != nil {
				return err
			}
		}
		d.progressed = false
		if err := d.feed(scheduler.Event{Kind: scheduler.Idle}); err != nil {
			return err
		}
		if err := d.restrain(); err != nil {
			return err
		}
		if err := d.handOver(); err != nil {
			return err
		}
	}
	return nil
}
