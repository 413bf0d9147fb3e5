package driver

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// An attempt may be ended by another party before the call that brought its token has ended. Then what stops the run
// waits for the end of that call, which is cancelled: the language is told of the accepted end first.

// awaitsCalls reports whether such a call of a language's node has not ended, and cancels it.
func (d *Driver) awaitsCalls() (awaits bool) {
	for _, e := range d.tokens.open {
		if e.early != nil && !e.revert && e.node != nil && e.node.Executes() {
			d.calls.Cancel(e.node, e.atom, false)
			awaits = true
		}
	}
	return awaits
}

// endsOthers reports whether a message makes the run give up attempts that another party has ended already.
func (d *Driver) endsOthers(l *storage.Message) bool {
	return l.Failure != nil && d.awaitsCalls()
}

// holdFailure keeps the failure of a call until no accepted end waits for the end of its call. It reports whether it
// does.
func (d *Driver) holdFailure(ev *scheduler.Event) bool {
	if ev.Failure == nil || ev.Revert || d.isEarly(ev) || !d.awaitsCalls() {
		return false
	}
	d.ends.held = append(d.ends.held, *ev)
	return true
}

// isEarly reports whether another party has ended the attempt of a call that has ended.
func (d *Driver) isEarly(ev *scheduler.Event) bool {
	e := d.tokens.open[timerKey{node: ev.Node, atom: ev.Atom}.path(&d.run)]
	return e != nil && e.early != nil
}

// endHeld ends the calls whose failures wait for nothing any longer.
func (d *Driver) endHeld() error {
	if len(d.ends.held) == 0 || d.awaitsCalls() {
		return nil
	}
	held := d.ends.held
	d.ends.held = nil
	for i := range held {
		if err := d.callEnded(held[i]); err != nil {
			return err
		}
	}
	return nil
}
