package engine

import (
	"context"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/failpoint"
)

// finished is a call that has ended.
type finished struct {
	call  *call
	event scheduler.Event
	known bool // false: it was stopped in the middle
}

// launch makes the calls that wait for a free place.
func (d *driver) launch() {
	for len(d.calls) > 0 {
		c := d.calls[0]
		isRetry := c.cmd.Node == nil && d.e.plan.Atoms[c.cmd.Atom].Kind() == atom.KindRetry
		if !isRetry && d.running >= d.e.parallel {
			return
		}
		d.calls[0] = nil
		d.calls = d.calls[1:]
		if c.about.Revert {
			failpoint.Hit("engine.reverting")
		}
		switch {
		case isRetry:
			d.ended = append(d.ended, d.nextTry(c))
		case d.e.parallel == 1 && c.cmd.Node == nil || d.lone():
			d.makeHere(c)
		default:
			d.fly(c)
		}
	}
}

// lone reports whether a call would be the only thing the run waits for: then
// nothing can happen before its end, and it need not be made elsewhere.
func (d *driver) lone() bool {
	if d.running > 0 || len(d.calls) > 0 || len(d.ended) > 0 {
		return false
	}
	_, waits := d.timers.next()
	return !waits
}

// makeHere makes a call on this goroutine. One that was stopped in the middle
// has no end: wait notices that the process is to stop.
func (d *driver) makeHere(c *call) {
	if ev, known := c.make(d.atomCtx); known {
		d.ended = append(d.ended, ev)
	}
}

// fly makes a call on a goroutine of its own.
func (d *driver) fly(c *call) {
	ctx, cancel := context.WithCancel(d.atomCtx)
	c.cancel = cancel
	d.running++
	if c.cmd.Node != nil {
		d.flying[c.cmd.Node] = c
	}
	d.atoms.Go(func() error {
		defer cancel()
		ev, known := c.make(ctx)
		d.done <- finished{c, ev, known}
		return nil // a failure is the atom's, not the group's
	})
}

// cancel ends what executes for a node, or what was about to.
func (d *driver) cancel(n *scheduler.Node) {
	if c := d.flying[n]; c != nil {
		c.cancel()
		return
	}
	for _, c := range d.calls {
		if c.cmd.Node == n {
			c.missing = &atom.Failure{Atom: n.Path, Code: atom.CodeCancelled, Message: "cancelled before it began"}
		}
	}
}

func (d *driver) finish(f finished) error {
	d.running--
	delete(d.flying, f.call.cmd.Node)
	if !f.known {
		return ErrStopped
	}
	return d.feed(f.event)
}

// stopAtoms cancels what still executes and waits for it.
func (d *driver) stopAtoms() {
	d.unwatch()
	d.halt(ErrStopped)
	for ; d.running > 0; d.running-- {
		<-d.done
	}
	_ = d.atoms.Wait() // none returns an error
}
