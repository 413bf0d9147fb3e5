package engine

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A driver takes one run through its life. All of it belongs to the goroutine
// that called Run; atoms execute on goroutines of their own and report through
// done.
type driver struct {
	e   *Engine
	s   *scheduler.Scheduler
	ctx context.Context // of Run: when it ends, the process wants to stop
	// storing is the context of the store's own work: that is not given up half
	// way because the process is to stop.
	storing context.Context
	claim   storage.Claim
	about   flow.Run
	now     time.Time

	head     storage.Head // as it is to be after the next commit
	cp       storage.Checkpoint
	at       map[string]int // where in cp.Atoms a path is; nil while there are few
	dirty    bool
	watched  bool // somebody is told of events
	notes    []Event
	payloads payloads
	specs    map[*scheduler.Node]atom.Value
	undos    int64
	stack    []storage.Undo // top of the undo stack, as far as it was read

	calls   []*call // to be made once what led to them is committed
	running int
	atoms   errgroup.Group // the goroutines they run on
	flying  map[*scheduler.Node]*call
	done    chan finished
	ended   []scheduler.Event // of calls made on this goroutine
	spare   []scheduler.Event // room for the next of them
	timers  timers
	over    *scheduler.Command
	phase   states.Engine
	suspend <-chan struct{} // closed when the run is to come to rest; nil once that was seen
	moved   bool            // the last events led to commands
	whole   bool            // the commands being done are to be committed together
	atomCtx context.Context
	halt    context.CancelCauseFunc // of atomCtx
	unwatch func() bool             // stops waiting for ctx to end
}

// drive runs until the run has come to rest, the process is to stop, or the
// store fails. Its phases are those of TaskFlow's engine.
func (d *driver) drive() error {
	defer d.stopAtoms()
	d.enter(states.EngineResuming)
	if err := d.feed(scheduler.Event{Kind: scheduler.Begin, Fresh: true}); err != nil {
		return err
	}
	if err := d.decide(); err != nil {
		return err
	}
	for d.phase != states.EngineGameOver {
		var err error
		switch d.phase {
		case states.EngineResuming, states.EngineAnalyzing:
			d.enter(d.next())
		case states.EngineScheduling:
			if err = d.flush(); err == nil {
				d.launch()
			}
			d.enter(states.EngineWaiting)
		default: // waiting
			if err = d.flush(); err == nil {
				err = d.wait()
			}
			d.enter(states.EngineAnalyzing)
			if err == nil {
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

// next returns the phase that follows on resuming and on analyzing.
func (d *driver) next() states.Engine {
	switch {
	case d.phase == states.EngineResuming || len(d.calls) > 0:
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
func (d *driver) enter(to states.Engine) {
	if err := states.Check(d.phase, to); err != nil {
		panic(err) // a defect of this file
	}
	d.phase = to
	if d.e.phases != nil {
		d.e.phases(d.claim.Run, to)
	}
}

// analyze takes in what has ended and decides what that leads to. A wish to
// suspend comes first: what ended before it was seen begins nothing new.
func (d *driver) analyze() error {
	select {
	case <-d.suspend:
		d.suspend = nil
		if err := d.feed(scheduler.Event{Kind: scheduler.Suspend}); err != nil {
			return err
		}
	default:
	}
	if err := d.collect(); err != nil {
		return err
	}
	return d.decide()
}

// decide lets the scheduler decide until there is nothing left to decide on.
func (d *driver) decide() error {
	for d.moved = true; d.moved && d.over == nil; {
		if !d.room() {
			if err := d.flush(); err != nil {
				return err
			}
		}
		d.moved = false
		if err := d.feed(scheduler.Event{Kind: scheduler.Idle}); err != nil {
			return err
		}
	}
	return nil
}

// feed gives an event to the scheduler and does what it asks for, until it asks
// for nothing more.
func (d *driver) feed(ev scheduler.Event) error {
	for again := true; again; {
		d.now = d.e.now()
		ev.Now = d.now
		again = false
		cmds := d.s.Step(ev)
		d.moved = d.moved || len(cmds) > 0
		d.whole = d.e.grows()
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
				ev, again = next, true
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
func (d *driver) endWhole() error {
	if !d.whole {
		return nil
	}
	d.whole = false
	err := d.flushEach()
	if err == nil && d.e.policy == Each {
		d.launch()
	}
	return err
}

func asks(op scheduler.Op) bool {
	return op == scheduler.AskLanguage || op == scheduler.AskUndo || op == scheduler.AskRetry || op == scheduler.AskDeciders
}

// do carries out one command. For one that asks it returns the answer.
func (d *driver) do(cmd *scheduler.Command) (answer scheduler.Event, asked bool, err error) {
	switch cmd.Op {
	case scheduler.Write, scheduler.Notify, scheduler.FlowState:
		return answer, false, d.keep(cmd)
	case scheduler.Execute, scheduler.Revert:
		d.calls = append(d.calls, d.prepare(cmd))
		if d.e.policy == Each && !d.whole {
			if err := d.flush(); err != nil {
				return answer, false, err
			}
			d.launch()
		}
	case scheduler.Wait:
		d.setTimer(cmd)
	case scheduler.Unwait:
		d.dropTimer(cmd)
	case scheduler.Deadline:
		d.timers.set(deadline, cmd.Due)
		d.keepTimer("", storage.TimerDeadline, cmd.Due)
	case scheduler.Cancel:
		d.cancel(cmd.Node)
	case scheduler.AskRetry:
		return d.askRetry(cmd), true, nil
	case scheduler.AskDeciders:
		return d.askDeciders(cmd), true, nil
	case scheduler.AskLanguage:
		if !d.room() {
			if err := d.flush(); err != nil {
				return answer, false, err
			}
		}
		return d.askLanguage(cmd), true, nil
	case scheduler.AskUndo:
		answer, err = d.topOfStack()
		return answer, err == nil, err
	case scheduler.More:
		if !d.room() {
			if err := d.flush(); err != nil {
				return answer, false, err
			}
			d.launch()
		}
		return scheduler.Event{Kind: scheduler.Continue}, true, nil
	case scheduler.Emit:
		d.keepEvents(cmd)
	case scheduler.Remember:
		d.head.Memory, d.dirty = cmd.Memory, true
		if cmd.Memory == nil {
			d.head.Memory = atom.Null
		}
	case scheduler.PushUndo:
		d.undos++
		d.cp.Push = append(d.cp.Push, storage.Undo{N: d.undos, Path: cmd.Node.Path})
		d.dirty = true
	case scheduler.PopUndo:
		d.undos--
		d.cp.Pop++
		d.stack = d.stack[1:]
		d.head.Undo, d.dirty = storage.UndonePart, true
	case scheduler.Over:
		d.conclude(cmd)
	}
	return answer, false, nil
}

// collect feeds all ends of calls that are at hand, so that they share a
// commit.
func (d *driver) collect() error {
	ended := d.ended
	d.ended = d.spare[:0] // what is launched meanwhile may end at once
	for _, ev := range ended {
		if err := d.feed(ev); err != nil {
			return err
		}
	}
	clear(ended)
	d.spare = ended
	for {
		select {
		case f := <-d.done:
			if err := d.finish(f); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// wait sleeps until something happens: a call ends, a timer is due, the run is
// to be suspended, or the process is to stop.
func (d *driver) wait() error {
	if len(d.ended) > 0 || d.over != nil {
		return nil
	}
	var due <-chan time.Time
	if at, ok := d.timers.next(); ok {
		if d.running == 0 {
			failpoint.Hit("engine.backoff")
		}
		t := time.NewTimer(at.Sub(d.e.now()))
		defer t.Stop()
		due = t.C
	}
	select {
	case f := <-d.done:
		return d.finish(f)
	case <-due:
		return d.fire()
	case <-d.suspend:
		return nil // analyze sees it
	case <-d.ctx.Done():
		return ErrStopped
	}
}

// fire feeds the waits that are over.
func (d *driver) fire() error {
	for _, k := range d.timers.due(d.e.now()) {
		if k.kind() != storage.TimerDeadline { // that one holds until the run has ended
			d.keepTimer(k.path(d), k.kind(), time.Time{})
		}
		if err := d.feed(scheduler.Event{Kind: scheduler.Fired, Atom: k.atom, Node: k.node}); err != nil {
			return err
		}
	}
	return nil
}
