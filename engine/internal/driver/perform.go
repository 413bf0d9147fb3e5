package driver

import (
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// feed gives an event to the scheduler, and carries out the commands that the scheduler returns. The answer to a
// command is the next event.
//
// Under Each, each change has a commit of its own. In a growing flow, an event is stored with all its consequences, or
// not at all, up to the next question.
func (d *Driver) feed(ev scheduler.Event) error {
	if err := d.att.broken.Load(); err != nil {
		return err
	}
	switch ev.Kind {
	case scheduler.Completed, scheduler.Fired, scheduler.Told:
		d.Draft.Head.Waited = d.Draft.Head.Iterations
	default:
	}
	for asked := true; asked; {
		d.Tick()
		ev.Failure = ev.Failure.Bounded()
		ev.Now, ev.Random = d.Draft.Now, rand.Float64() //nolint:gosec // only spreads waits
		cmds := d.s.Step(ev)
		d.cycle.commands += len(cmds)
		whole := d.Grows() || ev.OperatorCommand != nil || ev.Kind == scheduler.Reset ||
			ev.Kind == scheduler.Fired && ev.Unit == nil
		var err error
		if ev, asked, err = d.perform(cmds, whole); err != nil {
			return err
		}
		if asked {
			d.TimePasses()
		}
	}
	return nil
}

// perform carries out commands, which share a commit if they are a whole. If the last one asks for an answer, the
// answer is an event for the scheduler.
func (d *Driver) perform(cmds []scheduler.Command, whole bool) (answer scheduler.Event, asked bool, err error) {
	for i := range cmds {
		cmd := &cmds[i]
		if whole && asks(cmd.Op) {
			if err := d.commitEach(true); err != nil {
				return answer, false, err
			}
			whole = false
		}
		var changed bool
		switch cmd.Op {
		case scheduler.Write, scheduler.Notify:
			a, line := d.Draft.Record(cmd)
			d.recorded(cmd, a, line)
			changed = line != nil
		case scheduler.FlowState:
			changed = d.keepFlowState(cmd)
		case scheduler.Execute, scheduler.Revert, scheduler.Await, scheduler.Spawn:
			changed, err = d.begin(cmd)
		default:
			var next scheduler.Event
			var asks bool
			if next, asks, err = d.do(cmd); asks {
				answer, asked = next, true
			}
		}
		if err == nil && changed && !whole {
			err = d.commitEach(cmd.Op == scheduler.Execute || cmd.Op == scheduler.Revert)
		}
		if err != nil {
			return answer, false, err
		}
	}
	if whole {
		err = d.commitEach(true)
	}
	return answer, asked, err
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

// recorded processes a record that was added to the pending checkpoint. It counts attempts, and notifies observers of a
// change of state. line is nil if the state has not changed.
func (d *Driver) recorded(cmd *scheduler.Command, a *storage.Atom, line *storage.Entry) {
	if line == nil {
		d.noteDelay(a)
		return
	}
	if cmd.To == states.TaskRunning && cmd.Unit.Planned != nil && !d.Grows() {
		d.Draft.Head.Iterations++
		d.cycle.attempted = true
	}
	if d.notices.watched || changeLine(cmd.To).level >= d.notices.level {
		d.noteChange(cmd, a, line)
	}
}

// do carries out a command that begins nothing. If the command asks for an answer, do returns it.
func (d *Driver) do(cmd *scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	switch cmd.Op {
	case scheduler.Cancel, scheduler.Void:
		return answer, false, d.end(cmd)
	case scheduler.AwaitRun:
		return answer, false, d.children.undoChild(cmd.Unit)
	case scheduler.Withdraw:
		d.attempts.Withdraw(cmd)
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
		if err == nil && cmd.Cause.Call && d.requests.asking != nil && answer.Kind != scheduler.Later {
			d.requestAnswered(&answer)
		}
		if g := answer.Growth; g != nil && len(g.GiveUp) > 0 {
			d.giveUp(cmd.Scope, g.GiveUp)
		}
		if answer.Kind != scheduler.Later && isTransition(cmd.Cause.Kind) {
			d.mail.Transition()
		}
		return answer, err == nil, err
	case scheduler.AskUndo:
		if d.ask.yields() {
			return d.ask.later(), true, nil
		}
		answer, err = d.nextUndo(cmd.Part)
		return answer, err == nil, err
	case scheduler.More:
		if d.ask.yields() && d.cycle.phase != states.EngineResuming {
			return d.ask.later(), true, nil
		}
		if d.Draft.Full() {
			if err = d.flush(); err == nil {
				err = d.launch(true)
			}
		}
		return scheduler.Event{Kind: scheduler.Continue}, err == nil, err
	case scheduler.Shelve:
		d.Draft.Overflow(cmd)
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
		d.attempts.SetWait(cmd)
	case scheduler.Unwait:
		d.attempts.DropWait(cmd)
	case scheduler.Deadline:
		d.setDeadline(cmd.Due)
		d.Draft.Timer("", storage.TimerDeadline, cmd.Due)
	case scheduler.Tell:
		d.tell(cmd)
		d.children.descent.end(cmd.Messages)
	case scheduler.Label:
		d.label(cmd)
	case scheduler.NeedPerson:
		d.recordPerson(cmd)
	case scheduler.Emit:
		d.events(cmd)
	case scheduler.Stays:
		d.noteStays(d.Draft.Stays(cmd))
	case scheduler.Remember:
		d.Draft.Head.Memory, d.Draft.Dirty = cmd.Memory, true
		if cmd.Memory == nil {
			d.Draft.Head.Memory = atom.Null
		}
	case scheduler.PendingFailure:
		d.recordOutcome(cmd)
	case scheduler.CommandApplied:
		d.Draft.Take(cmd.OperatorCommand.N)
		d.receipt(cmd.OperatorCommand.N, !cmd.OperatorCommand.Dropped)
	default:
		panic("engine: unknown command") // a defect of this file
	}
}

// begin starts an attempt: a call, or an attempt that another party ends. It reports whether it has left a call to the
// executor or to workers.
func (d *Driver) begin(cmd *scheduler.Command) (calls bool, err error) {
	u := cmd.Unit
	switch {
	case cmd.Op == scheduler.Await: // another party ends it
		d.attempts.Open(cmd)
		return false, nil
	case cmd.Op == scheduler.Spawn && u.Planned != nil:
		return false, d.children.spawnPlanned(u, cmd.Values, cmd.Missing)
	case cmd.Op == scheduler.Spawn:
		d.attempts.Open(cmd)
		return false, d.children.spawn(u, u.Node.Spec.Input)
	case u.BeginsRun() && (u.Planned != nil || u.Node.Spec.Undo.Task == ""): // the atom is undone by undoing its child run
		return false, d.children.undoChild(u)
	}
	c := d.prepare(cmd)
	if c.Work != "" && d.attempts.HandOver(cmd, c) {
		return true, nil
	}
	if cmd.Op == scheduler.Execute {
		if a := d.attempts.Open(cmd); a != nil {
			c.About.Token = a.Token.ID
		}
	}
	d.calls.Queue(c)
	return true, nil
}

// end ends an attempt that is no longer needed.
func (d *Driver) end(cmd *scheduler.Command) error {
	if cmd.Op == scheduler.Cancel {
		d.cancel(cmd)
		return nil
	}
	d.attempts.Close(cmd.Unit.Path, false)
	if cmd.Unit.BeginsRun() {
		return d.children.dropChild(cmd.Unit, cmd.Abandoned)
	}
	return nil
}

// commitIfFull commits a checkpoint that has grown large.
func (d *Driver) commitIfFull() error {
	if !d.Draft.Full() {
		return nil
	}
	return d.flush()
}

// restrain fails a run that may not create another run, and a run of a plan that exceeds its limit of attempts. The
// excess attempt is not made.
func (d *Driver) restrain() error {
	if f := d.children.family.childLimit; f != nil {
		d.children.family.childLimit = nil
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
	case d.Draft.Head.Iterations > l.Iterations:
		f = l.outgrown()
	case d.Draft.Head.Bytes > l.Bytes:
		f = l.overfull()
	}
	if f == nil {
		return nil
	}
	return d.feed(scheduler.Event{Kind: scheduler.Exceeded, Failure: f})
}
