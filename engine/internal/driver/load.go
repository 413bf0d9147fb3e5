package driver

import (
	"errors"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// load takes up what was stored of the run.
func (d *Driver) load(snap *storage.Snapshot) error {
	run := &snap.Run
	records := make([]scheduler.Loaded, 0, len(snap.Atoms))
	for i := range snap.Atoms {
		l, err := d.next.Load(&snap.Atoms[i])
		if err != nil {
			return storeError(d.claim.Run, err)
		}
		records = append(records, l)
		if l.Spec != nil && l.Spec.Group != nil {
			if records, err = d.loadEnded(&l, records); errors.Is(err, ErrStopped) {
				return err
			} else if err != nil {
				return storeError(d.claim.Run, err)
			}
		}
	}
	if run.State != states.FlowPending || len(records) > 0 {
		pending, pendingFailure := pendingOf(run)
		d.s.Load(&scheduler.Saved{
			Flow: run.State, Memory: run.Memory, Records: records, Undos: run.Undos,
			Unwound: run.Undo != storage.UndoNone, PendingOutcome: pending, PendingFailure: pendingFailure,
		})
	}
	targets := map[string]timerKey{}
	for n := range d.s.Open {
		targets[n.Path] = timerKey{node: n, atom: -1}
		if n.Spec.Kind == flow.Nested && !n.Spec.Child.Detached {
			d.children[d.childOf(n)] = n
		}
	}
	d.loadTokens(snap, targets)
	d.loadSignals()
	d.found = snap.Timers
	for _, t := range snap.Timers { // the others come back with the waits they belong to
		switch e := d.external[t.Path]; {
		case t.Kind == storage.TimerDeadline:
			d.setDeadline(t.Due)
		case t.Kind == storage.TimerToken && e != nil && e.timerKey != nobodys:
			d.timers.set(e.tokenKey(), t.Due)
		}
	}
	return nil
}

// childrenAtOnce is how many children of a fork are read at once.
const childrenAtOnce = 256

// loadEnded adds the children of an open fork that have ended: they are not
// needed to go on, but their results are. Children are made in order, so where
// the first is missing, there are no more. It stops with the process.
func (d *Driver) loadEnded(fork *scheduler.Loaded, records []scheduler.Loaded) ([]scheduler.Loaded, error) {
	paths := make([]string, 0, min(fork.Spec.Group.Count, childrenAtOnce))
	for from := 0; from < fork.Spec.Group.Count; from += childrenAtOnce {
		paths = paths[:0]
		for i := from; i < min(from+childrenAtOnce, fork.Spec.Group.Count); i++ {
			paths = append(paths, scheduler.ChildPath(fork.Path, int(fork.Rec.Attempt), i))
		}
		if d.ctx.Err() != nil {
			return nil, ErrStopped
		}
		found, err := d.env.Store.AtomsAt(d.storing, d.claim.Run, paths...)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Live {
				continue // loaded with the others
			}
			l, err := d.next.Loaded(&found[i])
			if err != nil {
				return nil, err
			}
			records = append(records, l)
		}
		if len(found) < len(paths) {
			break
		}
	}
	return records, nil
}
