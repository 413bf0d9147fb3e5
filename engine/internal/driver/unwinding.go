package driver

import (
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// nextUndo returns the topmost entry of the undo stack, or of the part that a flow wants undone.
func (d *Driver) nextUndo(part *scheduler.Part) (scheduler.Event, error) {
	ev := scheduler.Event{Kind: scheduler.Unwound}
	u, found, err := d.findUndo(part)
	if !found || err != nil {
		return ev, err
	}
	if _, gathered := d.Draft.Gathered(u.Path); gathered { // the stored record is out of date
		if err := d.flush(); err != nil {
			return ev, err
		}
	}
	a, err := d.env.Store.Atom(d.storing, d.Claim.Run, u.Path)
	if err != nil {
		return ev, d.Wrap(err)
	}
	l, err := d.Draft.Load(&a)
	if err != nil {
		return ev, d.Wrap(err)
	}
	ev.Unit, ev.N = d.s.Unwind(l), u.N
	return ev, nil
}

// findUndo searches the stack for the entry from the top down, or from where the search of the part stopped. It stops
// when the process stops.
func (d *Driver) findUndo(part *scheduler.Part) (u storage.Undo, found bool, err error) {
	if part == nil {
		return d.undoBelow(d.stack.size + 1)
	}
	below := d.stack.size + 1
	if part.Below > 0 {
		below = min(below, part.Below)
	}
	for {
		if u, found, err = d.undoBelow(below); !found || err != nil {
			return u, false, err
		}
		if picked, last := part.Picks(u.Path); picked || last {
			return u, picked, nil
		}
		below = u.N
	}
}

// undoBelow returns the entry of the undo stack directly below a number, and whether it exists. It reads a page of
// entries if needed.
func (d *Driver) undoBelow(below int64) (u storage.Undo, found bool, err error) {
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
	if err := d.flush(); err != nil { // commit the entries before reading them
		return u, false, err
	}
	if d.stack.page, err = d.env.Store.Undos(d.storing, d.Claim.Run, below, stackPage); err != nil {
		return u, false, d.Wrap(err)
	}
	at := d.stack.index(n)
	if at < 0 {
		return u, false, d.Wrap(fmt.Errorf("%w: no entry %d on the undo stack", storage.ErrCorrupt, n))
	}
	return d.stack.page[at], true, nil
}
