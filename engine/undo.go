package engine

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// entry brings the topmost entry of the undo stack, or of the part of it that a
// flow wants undone.
func (d *driver) entry(part *scheduler.Part) (scheduler.Event, error) {
	ev := scheduler.Event{Kind: scheduler.Unwound}
	u, found, err := d.find(part)
	if !found || err != nil {
		return ev, err
	}
	if slices.ContainsFunc(d.cp.Atoms, func(a storage.Atom) bool { return a.Path == u.Path }) { // what is stored is old
		if err := d.flush(); err != nil {
			return ev, err
		}
	}
	a, err := d.e.store.Atom(d.storing, d.claim.Run, u.Path)
	if err != nil {
		return ev, d.storeError(err)
	}
	l, err := d.loaded(&a)
	if err != nil {
		return ev, d.storeError(err)
	}
	d.earlier[a.Path] = attemptIn(&a)
	ev.Node, ev.N = d.s.Unwind(l), u.N
	return ev, nil
}

// find looks for the entry from the top of the stack down, and reads ever more of
// it.
func (d *driver) find(part *scheduler.Part) (u storage.Undo, found bool, err error) {
	for i := 0; ; i++ {
		if i == len(d.stack) {
			if more, err := d.readStack(); err != nil || !more {
				return u, false, err
			}
		}
		u = d.stack[i]
		if part == nil {
			return u, true, nil
		}
		if part.Below > 0 && u.N >= part.Below {
			continue
		}
		if picked, last := part.Picks(u.Path); picked || last {
			return u, picked, nil
		}
	}
}

// readStack reads further entries of the undo stack. It reports whether there are
// any.
func (d *driver) readStack() (bool, error) {
	if had := len(d.stack); had > 0 && d.stack[had-1].N == 1 {
		return false, nil
	}
	if err := d.flush(); err != nil { // what is read must be there
		return false, err
	}
	const least = 64
	undos, err := d.e.store.Undos(d.storing, d.claim.Run, max(least, 2*len(d.stack)))
	if err != nil {
		return false, d.storeError(err)
	}
	more := len(undos) > len(d.stack)
	d.stack = undos
	return more, nil
}

// changeStack changes the undo stack with the next commit.
func (d *driver) changeStack(cmd *scheduler.Command) {
	d.dirty = true
	switch cmd.Op {
	case scheduler.PushUndo:
		d.undos++
		d.cp.Push = append(d.cp.Push, storage.Undo{N: d.undos, Path: cmd.Node.Path})
		d.stack = nil // it is read anew when it is needed
	case scheduler.PopUndo:
		d.undos--
		d.cp.Pop++
		if len(d.stack) > 0 {
			d.stack = d.stack[1:]
		}
	default: // all of it
		d.cp.Pop += int(d.undos) - len(d.cp.Push)
		d.cp.Push, d.undos, d.stack = d.cp.Push[:0], 0, nil
	}
}
