package engine

import "github.com/ebbflow/ebb/engine/internal/scheduler"

// topOfStack brings the topmost entry of the undo stack.
func (d *driver) topOfStack() (scheduler.Event, error) {
	if len(d.stack) == 0 {
		if err := d.flush(); err != nil { // what is read must be there
			return scheduler.Event{}, err
		}
		const batch = 64
		undos, err := d.e.store.Undos(d.storing, d.claim.Run, batch)
		if err != nil {
			return scheduler.Event{}, d.storeError(err)
		}
		d.stack = undos
	}
	ev := scheduler.Event{Kind: scheduler.Unwound}
	if len(d.stack) == 0 {
		return ev, nil
	}
	a, err := d.e.store.Atom(d.storing, d.claim.Run, d.stack[0].Path)
	if err != nil {
		return ev, d.storeError(err)
	}
	l, err := d.loaded(&a)
	if err != nil {
		return ev, d.storeError(err)
	}
	ev.Node = d.s.Unwind(l)
	return ev, nil
}
