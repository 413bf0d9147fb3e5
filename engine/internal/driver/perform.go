package driver

import (
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// feed gives an event to the scheduler, and carries out the commands that the scheduler returns. The answer to a
// command is the next event.
func (d *Driver) feed(ev scheduler.Event) error {
	if err := d.att.broken.Load(); err != nil {
		return err
	}
	defer func(outer bool) { d.cycle.feeding = outer }(d.cycle.feeding)
	d.cycle.feeding = true
	switch ev.Kind {
	case scheduler.Completed, scheduler.Fired, scheduler.Told:
		d.next.Head.Waited = d.next.Head.Iterations
	default:
	}
	for again := true; again; {
		d.tick()
		ev.Failure = ev.Failure.Bounded()
		ev.Now, ev.Random = d.next.Now, rand.Float64() //nolint:gosec // only spreads waits
		cmds := d.s.Step(ev)
		d.cycle.progressed = d.cycle.progressed || len(cmds) > 0
		d.cycle.whole = d.Grows() || ev.OperatorCommand != nil || ev.Kind == scheduler.Reset ||
			ev.Kind == scheduler.Fired && ev.Node == nil && ev.Atom < 0
		answer, asked, err := d.perform(cmds)
		if err == nil {
			err = d.endWhole()
		}
		if err != nil {
			return err
		}
		if again = asked; asked {
			ev, d.stale = answer, true
		}
	}
	return nil
}

// perform carries out commands. If a command asks for an answer, the answer is an event for the scheduler.
func (d *Driver) perform(cmds []scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	for i := range cmds {
		cmd := &cmds[i]
		if cmd.Op == scheduler.Write || cmd.Op == scheduler.Notify {
			a, line := d.next.Record(cmd)
			if err := d.recorded(cmd, a, line); err != nil {
				return answer, asked, err
			}
			continue
		}
		if d.cycle.whole && asks(cmd.Op) {
			if err := d.endWhole(); err != nil {
				return answer, asked, err
			}
		}
		next, is, err := d.do(cmd)
		if err != nil {
			return answer, asked, err
		}
		if is {
			answer, asked = next, true
		}
	}
	return answer, asked, nil
}

// endWhole ends a group of commands that must share a commit even under Each: in a growing flow, an event is stored
// with all its consequences, or not at all.
func (d *Driver) endWhole() error {
	if !d.cycle.whole {
		return nil
	}
	d.cycle.whole = false
	err := d.flushEach()
	if err == nil && d.env.Each {
		err = d.launch()
	}
	return err
}

// asks reports whether a command needs an answer.
func asks(op scheduler.Op) bool {
	switch op {
	case scheduler.AskLanguage, scheduler.AskUndo, scheduler.AskRetry, scheduler.AskDeciders, scheduler.More:
		return true
	default:
		return false
	}
}

// recorded processes a record that was added to the pending checkpoint. It counts attempts, notifies observers of a
// change of state, and commits the change at once under Each. line is nil if the state has not changed.
func (d *Driver) recorded(cmd *scheduler.Command, a *storage.Atom, line *storage.Entry) error {
	if line == nil {
		d.noteDelay(a)
		return nil
	}
	if cmd.To == states.TaskRunning && cmd.Node == nil && cmd.Scope == nil && !d.Grows() {
		d.next.Head.Iterations++
		d.cycle.attempted = true
	}
	if d.notices.watched || changeLine(cmd.To).level >= d.notices.level {
		d.noteChange(cmd, a, line)
	}
	return d.flushEach()
}

// do carries out a command other than storing a record. If the command asks for an answer, do returns it.
func (d *Driver) do(cmd *scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	switch cmd.Op {
	case scheduler.FlowState:
		return answer, false, d.keepFlowState(cmd)
	case scheduler.Execute, scheduler.Revert, scheduler.Await, scheduler.Spawn:
		return answer, false, d.begin(cmd)
	case scheduler.Cancel, scheduler.Void:
		return answer, false, d.end(cmd)
	case scheduler.AwaitRun:
		return answer, false, d.children.undoChild(originOf(cmd))
	case scheduler.Withdraw:
		d.tokens.withdraw(cmd)
	case scheduler.AskRetry:
		answer, err = d.ask.askRetry(cmd)
		return answer, err == nil, err
	case scheduler.AskDeciders:
		return d.ask.askDeciders(cmd), true, nil
	case scheduler.AskLanguage:
		if d.ask.yields() {
			return d.ask.later(), true, nil
		}
		if err := d.commitIfFull(); err != nil {
			return answer, false, err
		}
		answer, err = d.ask.askLanguage(cmd)
		if err == nil && cmd.Cause.Call && d.box.requests.asking != nil && answer.Kind != scheduler.Later {
			responder{d}.requestAnswered(&answer)
		}
		if g := answer.Growth; g != nil && len(g.GiveUp) > 0 {
			responder{d}.giveUp(cmd.Scope, g.GiveUp)
		}
		d.box.moved = d.box.moved || isTransition(cmd.Cause.Kind)
		return answer, err == nil, err
	case scheduler.AskUndo:
		if d.ask.yields() {
			return d.ask.later(), true, nil
		}
		answer, err = unwinding{d}.entry(cmd.Part)
		return answer, err == nil, err
	case scheduler.More:
		if d.ask.yields() && d.cycle.phase != states.EngineResuming {
			return d.ask.later(), true, nil
		}
		if d.next.Full() {
			if err = d.flush(); err == nil {
				err = d.launch()
			}
		}
		return scheduler.Event{Kind: scheduler.Continue}, err == nil, err
	case scheduler.Shelve:
		d.next.Overflow(cmd)
	case scheduler.Over:
		return answer, false, d.conclude(cmd)
	case scheduler.PushUndo, scheduler.PopUndo, scheduler.DropUndo:
		d.changeStack(cmd)
	default:
		d.take(cmd)
	}
	return answer, false, nil
}

// take carries out the commands that only change the next commit or the run's waits.
func (d *Driver) take(cmd *scheduler.Command) {
	switch cmd.Op {
	case scheduler.Wait:
		d.timers.setTimer(cmd)
	case scheduler.Unwait:
		d.timers.dropTimer(cmd)
	case scheduler.Deadline:
		d.att.setDeadline(&d.timers, cmd.Due)
		d.next.Timer("", storage.TimerDeadline, cmd.Due)
	case scheduler.Tell:
		d.tell(cmd)
	case scheduler.Label:
		d.label(cmd)
	case scheduler.NeedPerson:
		d.recordPerson(cmd)
	case scheduler.Emit:
		d.events(cmd)
	case scheduler.Stays:
		d.noteStays(d.next.Stays(cmd))
	case scheduler.Remember:
		d.next.Head.Memory, d.next.Dirty = cmd.Memory, true
		if cmd.Memory == nil {
			d.next.Head.Memory = atom.Null
		}
	case scheduler.PendingFailure:
		d.recordOutcome(cmd)
	case scheduler.CommandApplied:
		d.next.Take(cmd.OperatorCommand.N)
		d.box.answered(&d.run, cmd.OperatorCommand.N, !cmd.OperatorCommand.Dropped)
	default:
		panic("engine: unknown command") // a defect of this file
	}
}

// begin starts an attempt: a call, or an attempt that another party ends.
func (d *Driver) begin(cmd *scheduler.Command) error {
	planned := cmd.Node == nil && d.plan.Atoms[cmd.Atom].Run != nil
	nested := cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested
	switch {
	case cmd.Op == scheduler.Await: // another party ends it
		d.tokens.openToken(cmd)
		return nil
	case planned && cmd.Op == scheduler.Spawn:
		return d.children.spawnPlanned(originOf(cmd), cmd.Values, cmd.Missing)
	case cmd.Op == scheduler.Spawn:
		d.tokens.openToken(cmd)
		return d.children.spawn(originOf(cmd), cmd.Node.Spec.Input)
	case planned, nested && cmd.Node.Spec.Undo.Task == "": // the atom is undone by undoing its child run
		return d.children.undoChild(originOf(cmd))
	}
	c := d.prepare(cmd)
	if c.Work != "" && d.tokens.dispatchRemote(cmd, c) {
		return d.flushEach()
	}
	if cmd.Op == scheduler.Execute {
		if e := d.tokens.openToken(cmd); e != nil {
			c.About.Token = e.token.ID
		}
	}
	d.calls.Queue(c)
	if !d.env.Each || d.cycle.whole {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.launch()
}

// end ends an attempt that is no longer needed.
func (d *Driver) end(cmd *scheduler.Command) error {
	switch {
	case cmd.Op == scheduler.Cancel:
		d.cancel(cmd)
	case cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested, cmd.Node == nil && d.plan.Atoms[cmd.Atom].Run != nil:
		o := originOf(cmd)
		d.tokens.closeToken(d.children.pathOf(o), false)
		return d.children.dropChild(o, cmd.Abandoned)
	default:
		d.tokens.closeToken(keyOf(cmd).path(&d.run), false)
	}
	return nil
}

// commitIfFull commits a checkpoint that has grown large.
func (d *Driver) commitIfFull() error {
	if !d.next.Full() {
		return nil
	}
	return d.flush()
}

// restrain fails a run that may not create another run, and a run of a plan that exceeds its limit of attempts. The
// excess attempt is not made.
func (d *Driver) restrain() error {
	if f := d.children.family.barren; f != nil {
		d.children.family.barren = nil
		if !d.s.IsEnding() {
			return d.feed(scheduler.Event{Kind: scheduler.Exceeded, Failure: f})
		}
	}
	if !d.cycle.attempted {
		return nil
	}
	d.cycle.attempted = false
	l := &d.env.Limits
	var f *atom.Failure
	switch {
	case d.s.IsEnding():
	case d.next.Head.Iterations > l.Iterations:
		f = l.outgrown()
	case d.next.Head.Bytes > l.Bytes:
		f = l.overfull()
	}
	if f == nil {
		return nil
	}
	return d.feed(scheduler.Event{Kind: scheduler.Exceeded, Failure: f})
}
