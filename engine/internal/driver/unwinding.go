package driver

import (
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// An unwinding finds what the Driver undoes next.
type unwinding struct{ *Driver }

// entry returns the topmost entry of the undo stack, or of the part that a flow wants undone.
func (d unwinding) entry(part *scheduler.Part) (scheduler.Event, error) {
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
		return ev, WrapStore(d.claim.Run, err)
	}
	l, err := d.next.Load(&a)
	if err != nil {
		return ev, WrapStore(d.claim.Run, err)
	}
	ev.Node, ev.N = d.s.Unwind(l), u.N
	return ev, nil
}

// find searches the stack for the entry from the top down, or from where the search of the part stopped. It stops
// when the process stops.
func (d unwinding) find(part *scheduler.Part) (u storage.Undo, found bool, err error) {
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

// under returns the entry of the undo stack directly below a number, and whether it exists. It reads a page of
// entries if needed.
func (d unwinding) under(below int64) (u storage.Undo, found bool, err error) {
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
	if d.stack.page, err = d.env.Store.Undos(d.storing, d.claim.Run, below, stackPage); err != nil {
		return u, false, WrapStore(d.claim.Run, err)
	}
	at := d.stack.index(n)
	if at < 0 {
		return u, false, WrapStore(d.claim.Run, fmt.Errorf("%w: no entry %d on the undo stack", storage.ErrCorrupt, n))
	}
	return d.stack.page[at], true, nil
}
