package driver

import (
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// feed gives an event to the scheduler and does what it asks for, until it asks
// for nothing more.
func (d *Driver) feed(ev scheduler.Event) error {
	if err := d.broken.Load(); err != nil {
		return err
	}
	defer func(outer bool) { d.feeding = outer }(d.feeding)
	d.feeding = true
	switch ev.Kind {
	case scheduler.Completed, scheduler.Fired, scheduler.Told:
		d.next.Head.Waited = d.next.Head.Iterations
	default:
	}
	for again := true; again; {
		d.tick()
		ev.Failure = ev.Failure.Bounded()
		ev.Now, ev.Random = d.next.Now, rand.Float64() //nolint:gosec // only spreads waits
		again = false
		cmds := d.s.Step(ev)
		d.progressed = d.progressed || len(cmds) > 0
		d.whole = d.Grows() || ev.OperatorCommand != nil || ev.Kind == scheduler.Reset ||
			ev.Kind == scheduler.Fired && ev.Node == nil && ev.Atom < 0
		for i := range cmds {
			if d.whole && asks(cmds[i].Op) {
				if err := d.endWhole(); err != nil {
					return err
				}
			}
			next, asked, err := d.do(&cmds[i])
			if err != nil {
				return err
			}
			if asked {
				ev, again, d.stale = next, true, true
			}
		}
		if err := d.endWhole(); err != nil {
			return err
		}
	}
	return nil
}

// endWhole ends what must be committed as a whole also under Each: in a growing
// flow an event is kept with all that followed from it, or not at all.
func (d *Driver) endWhole() error {
	if !d.whole {
		return nil
	}
	d.whole = false
	err := d.flushEach()
	if err == nil && d.env.Each {
		err = d.launch()
	}
	return err
}

// asks reports whether a command wants an answer.
func asks(op scheduler.Op) bool {
	switch op {
	case scheduler.AskLanguage, scheduler.AskUndo, scheduler.AskRetry, scheduler.AskDeciders, scheduler.More:
		return true
	default:
		return false
	}
}

// do carries out one command. For one that asks it returns the answer.
func (d *Driver) do(cmd *scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	switch cmd.Op {
	case scheduler.Write, scheduler.Notify, scheduler.FlowState:
		return answer, false, d.keep(cmd)
	case scheduler.Execute, scheduler.Revert, scheduler.Await, scheduler.Spawn:
		return answer, false, d.begin(cmd)
	case scheduler.Cancel, scheduler.Void:
		return answer, false, d.end(cmd)
	case scheduler.AskRetry:
		answer, err = d.askRetry(cmd)
		return answer, err == nil, err
	case scheduler.AskDeciders:
		return d.askDeciders(cmd), true, nil
	case scheduler.AskLanguage:
		if d.yields() {
			return d.later(), true, nil
		}
		if err := d.commitIfFull(); err != nil {
			return answer, false, err
		}
		answer, err = d.askLanguage(cmd)
		return answer, err == nil, err
	case scheduler.AskUndo:
		if d.yields() {
			return d.later(), true, nil
		}
		answer, err = d.entry(cmd.Part)
		return answer, err == nil, err
	case scheduler.More:
		if d.yields() && d.phase != states.EngineResuming {
			return d.later(), true, nil
		}
		if d.next.Full() {
			if err = d.flush(); err == nil {
				err = d.launch()
			}
		}
		return scheduler.Event{Kind: scheduler.Continue}, err == nil, err
	case scheduler.Shelve:
		d.next.Overflow(cmd)
	case scheduler.PushUndo, scheduler.PopUndo, scheduler.DropUndo:
		d.changeStack(cmd)
	default:
		d.take(cmd)
	}
	return answer, false, nil
}

// take does what only changes what the next commit holds, or what is waited for.
func (d *Driver) take(cmd *scheduler.Command) {
	switch cmd.Op {
	case scheduler.Wait:
		d.setTimer(cmd)
	case scheduler.Unwait:
		d.dropTimer(cmd)
	case scheduler.Deadline:
		d.setDeadline(cmd.Due)
		d.next.Timer("", storage.TimerDeadline, cmd.Due)
	case scheduler.Tell:
		d.tell(cmd)
	case scheduler.Label:
		d.label(cmd)
	case scheduler.Emit:
		d.events(cmd)
	case scheduler.Remember:
		d.next.Head.Memory, d.next.Dirty = cmd.Memory, true
		if cmd.Memory == nil {
			d.next.Head.Memory = atom.Null
		}
	case scheduler.PendingFailure:
		d.recordOutcome(cmd)
	case scheduler.CommandApplied:
		d.next.Take(cmd.OperatorCommand.N)
	case scheduler.Over:
		d.conclude(cmd)
	default:
		panic("engine: a command that nobody carries out") // a defect of this file
	}
}

// begin begins an attempt: a call, or what is ended elsewhere.
func (d *Driver) begin(cmd *scheduler.Command) error {
	nested := cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested
	switch {
	case cmd.Op == scheduler.Await:
		d.openToken(cmd)
		return nil
	case cmd.Op == scheduler.Spawn:
		d.openToken(cmd)
		return d.spawn(cmd.Node)
	case nested && cmd.Node.Spec.Undo.Task == "": // it is reverted
		return d.undoChild(cmd.Node)
	}
	c := d.prepare(cmd)
	if c.Work != "" && d.dispatchRemote(cmd, c) {
		return d.flushEach()
	}
	if cmd.Op == scheduler.Execute {
		if e := d.openToken(cmd); e != nil {
			c.About.Token = e.token.ID
		}
	}
	d.calls.Queue(c)
	if !d.env.Each || d.whole {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.launch()
}

// end ends an attempt that is not wanted any more.
func (d *Driver) end(cmd *scheduler.Command) error {
	switch {
	case cmd.Op == scheduler.Cancel:
		d.cancel(cmd)
	case cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested:
		d.closeToken(cmd.Node.Path, false)
		return d.dropChild(cmd.Node, cmd.Abandoned)
	default:
		d.closeToken(keyOf(cmd).path(d), false)
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
