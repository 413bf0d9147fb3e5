package driver

import (
	"errors"

	"github.com/ebbflow/ebb/engine/internal/session"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// A childRun is a run to be driven beside its parent.
type childRun struct {
	id   string
	made *storage.Run // as the last commit created it; nil if the run existed before
}

// driveChildRuns drives the child runs of this run, as long as the process drives this run and no other process
// drives them. If the store fails one of them, this run also stops, because it would wait for ever. If this run is
// released when it only waits, so are its child runs, and this run stays until the last of them rests or only waits.
func (c *children) driveChildRuns() {
	if len(c.begun) == 0 {
		return
	}
	childRuns := c.begun
	if c.begun = nil; c.mode.Answer { // they are due
		return
	}
	for _, f := range childRuns {
		if c.drivesAgain(f.id) {
			continue
		}
		c.busy.Add(1)
		c.group.Go(func() {
			defer func() {
				if c.busy.Add(-1) == 0 {
					c.att.Notify() // the message about its end comes before this run is released
				}
			}()
			s := &Slot{Places: c.mode.Places}
			if !s.take(c.calls.Context()) {
				return
			}
			defer s.leave()
			m := Mode{Slot: s, Places: s.Places, Unload: c.mode.Unload, Quiet: c.mode.Quiet}
			for made, again := f.made, true; again; made, again = nil, c.drivenOnce(f.id) {
				err := c.env.Runs.DriveChild(c.calls.Context(), f.id, made, m)
				if store, broken := errors.AsType[*session.StoreError](err); broken { // no process drives the child
					c.att.Broken(store)
				} else if err != nil {
					c.env.Log.Debug(logevent.RunChildStopped, "run", f.id, "error", err)
				}
			}
		})
	}
}

// drivesAgain reports whether a child run is driven already. Then it is driven once more afterwards, because the run
// may have come to rest before the message of this run arrived.
func (c *children) drivesAgain(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, driven := c.driven[id]
	if c.driven == nil {
		c.driven = map[string]bool{}
	}
	c.driven[id] = driven
	return driven
}

// drivenOnce reports whether a child run that was driven to rest is to be driven once more.
func (c *children) drivenOnce(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.driven[id] {
		c.driven[id] = false
		return true
	}
	delete(c.driven, id)
	return false
}
