package driver

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// entry brings the topmost entry of the undo stack, or of the part of it that a
// flow wants undone.
func (d *Driver) entry(part *scheduler.Part) (scheduler.Event, error) {
	ev := scheduler.Event{Kind: scheduler.Unwound}
	u, found, err := d.find(part)
	if !found || err != nil {
		return ev, err
	}
	if _, gathered := d.next.Gathered(u.Path); gathered { // what is stored is old
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

// find looks for the entry from the top of the stack, or of the part of it that was not
// looked through yet, down. It stops with the process.
func (d *Driver) find(part *scheduler.Part) (u storage.Undo, found bool, err error) {
	if part == nil {
		return d.under(d.undos + 1)
	}
	below := d.undos + 1
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

// stackPage is how many entries of the undo stack are read at once.
const stackPage = 64

// under returns the entry of the undo stack right below a number, and whether there is one.
// It reads a page of them where it was not read yet.
func (d *Driver) under(below int64) (u storage.Undo, found bool, err error) {
	n := below - 1
	if n < 1 {
		return u, false, nil
	}
	if at := d.inStack(n); at >= 0 {
		return d.stack[at], true, nil
	}
	if d.ctx.Err() != nil {
		return u, false, ErrStopped
	}
	if err := d.flush(); err != nil { // what is read must be there
		return u, false, err
	}
	if d.stack, err = d.env.Store.Undos(d.storing, d.claim.Run, below, stackPage); err != nil {
		return u, false, storeError(d.claim.Run, err)
	}
	at := d.inStack(n)
	if at < 0 {
		return u, false, storeError(d.claim.Run, fmt.Errorf("%w: no entry %d on the undo stack", storage.ErrCorrupt, n))
	}
	return d.stack[at], true, nil
}

// inStack returns where in the page that was read an entry is; -1 when it is not in it.
func (d *Driver) inStack(n int64) int {
	return slices.IndexFunc(d.stack, func(u storage.Undo) bool { return u.N == n })
}

// changeStack changes the undo stack with the next commit.
func (d *Driver) changeStack(cmd *scheduler.Command) {
	d.next.Dirty = true
	switch cmd.Op {
	case scheduler.PushUndo:
		d.undos++
		d.next.Push = append(d.next.Push, storage.Undo{N: d.undos, Path: cmd.Node.Path})
		d.stack = nil // it is read anew when it is needed
	case scheduler.PopUndo:
		d.undos--
		d.next.Pop++
	default: // all of it
		d.next.Pop += int(d.undos) - len(d.next.Push)
		d.next.Push, d.undos, d.stack = d.next.Push[:0], 0, nil
	}
}
