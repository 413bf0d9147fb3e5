package driver

import (
	"math"
	"time"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/mailbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Driver drives one run. All its fields belong to the driving goroutine. That goroutine also makes a call itself
// if it is the only one; the executor makes the other calls.
type Driver struct {
	run

	// Set Mode before Live is called.
	Mode     Mode
	att      attention
	ask      asker
	calls    executor.Executor
	attempts attempts.Table
	children children
	mail     mailbox.Box
	requests requests
	cycle    cycle
}

// A cycle is the progress of the driver in passing events to the scheduler.
type cycle struct {
	phase     states.Engine
	over      *scheduler.Command // how the run came to rest; nil before
	commands  int                // number of commands of the scheduler that were carried out
	attempted bool               // an attempt of an atom of the plan has started
	reopens   bool               // the run goes forward again after it had ended, and so takes its key again
	commanded bool               // a command was applied
}

// start loads the run and drives it to rest.
func (d *Driver) start(first *scheduler.OperatorCommand, rest []storage.Message) error {
	if err := d.enter(states.EngineResuming); err != nil {
		return err
	}
	d.TimePasses()
	d.cycle.reopens, d.cycle.commanded = first == nil || first.Kind == scheduler.Rewind, first != nil
	d.mail.Note(rest)
	rest, err := d.children.continueFirst(rest)
	if err == nil {
		err = d.children.rejoin()
	}
	if err != nil {
		return err
	}
	if d.ask.since = d.env.Store.Now(); d.Mode.Urgent {
		d.ask.since = time.Time{} // handle the request before the next answer
	}
	if d.mail.Queue(rest); len(rest) > 0 {
		d.att.look.Store(true) // read the messages soon, even if decisions are pending
	}
	if err := d.loadLeft(first); err != nil {
		return err
	}
	if err := d.feed(scheduler.Event{Kind: scheduler.Begin, Fresh: true, OperatorCommand: first}); err != nil {
		return err
	}
	if err := d.followFirst(); err != nil {
		return err
	}
	if d.overdue() { // it counts from the first decision on, and what was accepted before counts
		err := d.follow(math.MaxInt64)
		if err == nil && d.cycle.over == nil {
			err = d.endAccepted()
		}
		if err != nil {
			return err
		}
	}
	if err := d.decide(); err != nil {
		return err
	}
	if err := d.follow(math.MaxInt64); err != nil {
		return err
	}
	if err := d.settle(); err != nil {
		return err
	}
	if d.overdue() { // before anything is called again
		if err := d.fire(); err != nil {
			return err
		}
		if err := d.settle(); err != nil {
			return err
		}
	}
	return d.loop()
}

// loop runs until the run has come to rest, the process must stop, or the store fails. Its phases are those of
// TaskFlow's engine.
func (d *Driver) loop() error {
	for d.cycle.phase != states.EngineGameOver {
		var err error
		switch d.cycle.phase {
		case states.EngineResuming, states.EngineAnalyzing:
			err = d.enter(d.nextPhase())
		case states.EngineScheduling:
			err = d.startQueued()
		default: // waiting
			err = d.waitAndAnalyze()
		}
		if err != nil {
			return err
		}
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.enter(lastPhases[d.cycle.over.FlowTo])
}

// startQueued starts the calls that are queued, and enters WAITING.
func (d *Driver) startQueued() (err error) {
	switch {
	case d.calls.Queued() == 0: // the next commit may also release the run
	case d.Mode.Answer:
		err = d.leaveDue()
	default:
		if err = d.flush(); err == nil {
			err = d.launch(false)
		}
	}
	if err != nil {
		return err
	}
	return d.enter(states.EngineWaiting)
}

// waitAndAnalyze waits until something concerns the run, and analyzes that. It returns ErrWaiting if the process must
// leave the run meanwhile.
func (d *Driver) waitAndAnalyze() error {
	if same, err := d.unchanged(); err != nil {
		return err
	} else if same {
		return ErrWaiting
	}
	leave := d.leaves() || d.givesBack()
	if err := d.flush(); err != nil {
		return err
	}
	if leave {
		return ErrWaiting
	}
	if err := d.wait(); err != nil {
		return err
	}
	if err := d.enter(states.EngineAnalyzing); err != nil {
		return err
	}
	return d.analyze()
}

// nextPhase returns the phase that follows RESUMING or ANALYZING.
func (d *Driver) nextPhase() states.Engine {
	switch {
	case d.cycle.phase == states.EngineResuming || d.calls.Queued() > 0:
		return states.EngineScheduling
	case d.cycle.over != nil:
		return states.EngineGameOver
	default:
		return states.EngineWaiting
	}
}

var lastPhases = map[states.Flow]states.Engine{
	states.FlowSuccess: states.EngineSuccess, states.FlowReverted: states.EngineReverted,
	states.FlowSuspended: states.EngineSuspended, states.FlowFailure: states.EngineFailure,
}

// enter changes the phase and panics if the table does not allow the change.
func (d *Driver) enter(to states.Engine) error {
	if err := states.Check(d.cycle.phase, to); err != nil {
		panic(err) // a defect of this file
	}
	d.cycle.phase = to
	return d.att.step(to)
}

// analyze processes the calls that have ended and decides what follows. A request to suspend comes first, so that
// ended calls start nothing new.
func (d *Driver) analyze() error {
	d.att.look.Store(false)
	d.TimePasses()
	d.Tick()
	d.ask.since = d.Draft.Now
	if err := d.att.broken.Load(); err != nil {
		return err
	}
	if err := d.att.assure(); err != nil {
		return err
	}
	if d.cycle.over == nil && d.att.mail.Swap(false) { // otherwise the run is released, and the messages make it due
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
	if d.attempts.HasPassed(d.Draft.Now) {
		if err := d.fire(); err != nil {
			return err
		}
	}
	if err := d.rereadMessages(); err != nil {
		return err
	}
	return d.settle()
}

// applySuspendRequest passes a request to suspend to the scheduler. The request may come between any two of the
// scheduler's commands. It does not change the remaining commands.
func (d *Driver) applySuspendRequest() error {
	if isClosed(d.att.suspend) {
		d.att.suspend, d.att.quit = nil, true
	}
	if !d.att.quit {
		return nil
	}
	d.att.quit = false
	cmds := d.s.Step(scheduler.Event{Kind: scheduler.Suspend})
	for i := range cmds {
		if d.keepFlowState(&cmds[i]) {
			if err := d.commitEach(false); err != nil {
				return err
			}
		}
	}
	return nil
}

// decide lets the scheduler decide until no decision is left, or until the run must handle a request.
func (d *Driver) decide() error {
	d.ask.postponed, d.ask.crowded, d.ask.endHeld = false, false, false
	for before := -1; before < d.cycle.commands && d.cycle.over == nil && !d.ask.postponed; {
		if err := d.commitIfFull(); err != nil {
			return err
		}
		before = d.cycle.commands
		if err := d.feed(scheduler.Event{Kind: scheduler.Idle}); err != nil {
			return err
		}
		if err := d.restrain(); err != nil {
			return err
		}
		if err := d.handOver(); err != nil {
			return err
		}
		if err := d.withdraw(); err != nil {
			return err
		}
	}
	return nil
}

// conclude records how the run ended, if it has ended.
func (d *Driver) conclude(cmd *scheduler.Command) error {
	over := *cmd
	d.cycle.over = &over
	d.Draft.Dirty = true
	h := &d.Draft.Head
	defer func() {
		d.endJob()
		d.notices.because(h.Failure)
	}()
	h.Release, h.Wakeups = true, d.released(cmd.FlowTo.Ended())
	asks := h.Failure
	if !h.AsksPerson() {
		asks = nil
	}
	h.Failure, h.Hold = nil, false
	switch cmd.FlowTo {
	case states.FlowSuspended:
		h.Hold, h.Failure = true, asks
		if len(cmd.Failures) > 0 {
			if d.s.RevertFailed() { // an operator must decide
				h.Undo = storage.UndoFailed
			}
			h.Failure = cmd.Failures[0]
		} else if d.att.aside != nil {
			h.Failure = d.att.aside
			d.env.Log.Error(logevent.RunSetAside, "run", d.Claim.Run, "flow", d.about.Flow,
				"code", d.att.aside.Code, "message", d.att.aside.Message)
		}
		return nil
	case states.FlowSuccess:
		h.Outcome, h.Undo = storage.Succeeded, storage.UndoNone
		switch {
		case cmd.End != nil && cmd.End.Successor != nil:
			if err := d.children.succeed(cmd.End.Successor); err != nil {
				return err
			}
		case cmd.End != nil:
			h.Output = d.Draft.Hold(cmd.End.Value)
		case d.children.family.parent != "":
			h.Output = d.Draft.Hold(d.children.outputs())
		}
	default:
		h.Outcome, h.Undo = storage.FailedOutcome, storage.UndoNone
		if cmd.PendingOutcome != scheduler.NothingPending {
			h.Outcome = outcomes[cmd.PendingOutcome]
		}
		switch {
		case cmd.FlowTo == states.FlowReverted:
			h.Undo = storage.UndoneAll
		case d.s.RevertFailed():
			h.Undo = storage.UndoFailed
		case d.s.Kept() || d.s.PartlyUndone():
			h.Undo = storage.UndonePart
		}
		if len(cmd.Failures) > 0 {
			h.Failure = cmd.Failures[0]
		}
	}
	h.Ended = d.Draft.Now
	d.attempts.DropAll()
	d.returnMessages()
	d.children.tellParent()
	return nil
}

// endJob ends the run's job according to the end of the run in the head.
func (d *Driver) endJob() {
	if d.job == "" {
		return
	}
	end := backend.JobEnd{Job: d.job, State: states.JobComplete, Failure: d.Draft.Head.Failure}
	if d.cycle.over.FlowTo == states.FlowSuspended || d.Draft.Head.Undo == storage.UndoFailed {
		end.State = states.JobParked
		if end.Failure == nil { // suspended on purpose
			return
		}
	}
	d.Draft.Job = &end
}

// loadLeft restores what was open when the run ended, if the command reopens a run of a growing flow.
func (d *Driver) loadLeft(cmd *scheduler.OperatorCommand) error {
	if cmd == nil || cmd.Kind != scheduler.Rewind || cmd.Keep || !d.Grows() {
		return nil
	}
	records, err := d.openAtEnd()
	if err != nil {
		return err
	}
	d.s.LoadLeft(records)
	return nil
}
