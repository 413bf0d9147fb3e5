package driver

import (
	"fmt"
	"math/rand/v2"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// feed gives an event to the scheduler and carries out the scheduler's commands until
// there are none left.
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
		again = false
		cmds := d.s.Step(ev)
		d.cycle.progressed = d.cycle.progressed || len(cmds) > 0
		d.cycle.whole = d.Grows() || ev.OperatorCommand != nil || ev.Kind == scheduler.Reset ||
			ev.Kind == scheduler.Fired && ev.Node == nil && ev.Atom < 0
		for i := range cmds {
			if d.cycle.whole && asks(cmds[i].Op) {
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

// endWhole ends a group of commands that must share a commit also under Each: in a growing
// flow, an event is stored with all its consequences, or not at all.
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

// do carries out one command. If the command needs an answer, do returns it.
func (d *Driver) do(cmd *scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	switch cmd.Op {
	case scheduler.Write, scheduler.Notify, scheduler.FlowState:
		return answer, false, d.keep(cmd)
	case scheduler.Execute, scheduler.Revert, scheduler.Await, scheduler.Spawn:
		return answer, false, d.begin(cmd)
	case scheduler.Cancel, scheduler.Void:
		return answer, false, d.end(cmd)
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
		return answer, err == nil, err
	case scheduler.AskUndo:
		if d.ask.yields() {
			return d.ask.later(), true, nil
		}
		answer, err = d.entry(cmd.Part)
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

// begin begins an attempt: a call, or an attempt that another party ends.
func (d *Driver) begin(cmd *scheduler.Command) error {
	nested := cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested
	switch {
	case cmd.Op == scheduler.Await:
		d.tokens.openToken(cmd)
		return nil
	case cmd.Op == scheduler.Spawn:
		d.tokens.openToken(cmd)
		return d.children.spawn(cmd.Node)
	case nested && cmd.Node.Spec.Undo.Task == "": // the node is undone by reverting its run
		return d.children.undoChild(cmd.Node)
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

// end ends an attempt that is no longer wanted.
func (d *Driver) end(cmd *scheduler.Command) error {
	switch {
	case cmd.Op == scheduler.Cancel:
		d.cancel(cmd)
	case cmd.Node != nil && cmd.Node.Spec.Kind == flow.Nested:
		d.tokens.closeToken(cmd.Node.Path, false)
		return d.children.dropChild(cmd.Node, cmd.Abandoned)
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

// restrain fails a run that may not create another run, and a run of a plan that exceeds its
// limit of attempts. The excess attempt is not made.
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

// entry returns the topmost entry of the undo stack, or of the part that a flow wants
// undone.
func (d *Driver) entry(part *scheduler.Part) (scheduler.Event, error) {
	ev := scheduler.Event{Kind: scheduler.Unwound}
	u, found, err := d.find(part)
	if !found || err != nil {
		return ev, err
	}
	if _, gathered := d.next.Gathered(u.Path); gathered { // the stored record is out of date
		if err := d.flush(); err != nil {
			return ev, err
		}
	}
	a, err := d.env.Store.Atom(d.storing, d.claim.Run, u.Path)
	if err != nil {
		return ev, storeError(d.claim.Run, err)
	}
	l, err := d.next.Load(&a)
	if err != nil {
		return ev, storeError(d.claim.Run, err)
	}
	ev.Node, ev.N = d.s.Unwind(l), u.N
	return ev, nil
}

// find searches the stack for the entry from the top down, or from the top of the part that
// it has not searched yet. It stops with the process.
func (d *Driver) find(part *scheduler.Part) (u storage.Undo, found bool, err error) {
	if part == nil {
		return d.under(d.stack.size + 1)
	}
	below := d.stack.size + 1
	if part.Below > 0 {
		below = min(below, part.Below)
	}
	for {
		if u, found, err = d.under(below); !found || err != nil {
			return u, false, err
		}
		if picked, last := part.Picks(u.Path); picked || last {
			return u, picked, nil
		}
		below = u.N
	}
}

// under returns the entry of the undo stack right below a number, and whether there is one.
// It reads a page of entries if the page was not read yet.
func (d *Driver) under(below int64) (u storage.Undo, found bool, err error) {
	n := below - 1
	if n < 1 {
		return u, false, nil
	}
	if at := d.stack.index(n); at >= 0 {
		return d.stack.page[at], true, nil
	}
	if d.ctx.Err() != nil {
		return u, false, ErrStopped
	}
	if err := d.flush(); err != nil { // commit the entries that are read next
		return u, false, err
	}
	if d.stack.page, err = d.env.Store.Undos(d.storing, d.claim.Run, below, stackPage); err != nil {
		return u, false, storeError(d.claim.Run, err)
	}
	at := d.stack.index(n)
	if at < 0 {
		return u, false, storeError(d.claim.Run, fmt.Errorf("%w: no entry %d on the undo stack", storage.ErrCorrupt, n))
	}
	return d.stack.page[at], true, nil
}
