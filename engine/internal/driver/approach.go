package driver

import (
	"errors"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A stop goes down from parent to child, and a family in which each run begins several others would grow faster than
// the stop goes down. So before a run begins a run to wait for, it looks for a stop that is on its way to it. The first
// run of its line that has not taken the stop yet has it in its inbox.
//
// A run that finds one passes it to itself, and delays the begin. It receives the stop before it begins anything else.

// nearestAncestors is at how many ancestors a run looks. A family that doubles with each level reaches its limit of
// descendants before it is so deep. A stop outruns a family that does not fork, see [descent].
const nearestAncestors = 32

// delay reports whether the run of a unit must not begin yet, because a stop is on its way to this run.
func (c *children) delay(u *scheduler.Unit) (bool, error) {
	c.delayed = slices.DeleteFunc(c.delayed, func(other *scheduler.Unit) bool { return other == u })
	if c.family.parent == "" || attempts.ChildOf(u).Detached || c.s.IsEnding() {
		return false, nil
	}
	if !c.family.looked {
		stops, err := c.stopApproaches()
		if err != nil {
			return false, err
		}
		c.family.stops, c.family.looked = stops, true
	}
	if c.family.stops {
		c.delayed = append(c.delayed, u)
	}
	return c.family.stops, nil
}

// stopApproaches reports whether a stop is on its way to the run. If it still has to come from an ancestor, it is sent
// to the run with the next commit.
func (c *children) stopApproaches() (bool, error) {
	line, err := c.env.Store.Stopping(c.storing, c.Claim.Run, nearestAncestors)
	if err != nil || len(line) < 2 {
		return len(line) == 1, c.Wrap(err)
	}
	top := len(line) - 1
	undo, stops, err := c.stopOf(line[top])
	if err != nil || !stops {
		return false, err
	}
	var last storage.Message
	for at := (told{run: line[top], undo: undo}); top > 0; top-- {
		below, messages, err := c.descent.below(&at)
		if err != nil {
			return false, c.Wrap(err)
		}
		found := false
		for i := range below {
			if below[i].run == line[top-1] {
				at, last, found = below[i], messages[i], true
			}
		}
		if !found {
			return false, nil // that ancestor does not wait for it
		}
	}
	c.Draft.Send(last)
	return true, nil
}

// stopOf reports whether the inbox of an ancestor has a stop that the ancestor cannot refuse, and whether that stop
// undoes the ancestor.
func (c *children) stopOf(ancestor string) (undo, stops bool, err error) {
	_, messages, err := backend.AllMessages(c.storing, c.env.Store, ancestor)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return false, false, c.Wrap(err)
	}
	for i := range messages {
		cmd, _ := inbox.CommandOf(&messages[i])
		if cmd.Next == 0 && cmd.Err == nil && (cmd.Kind == inbox.Cancel || cmd.Kind == inbox.Revert) {
			return cmd.Undo, true, nil
		}
	}
	return false, false, nil
}

// beginDelayed begins the runs that were delayed, unless a stop is still on its way, or this run has been stopped.
func (c *children) beginDelayed() error {
	units := c.delayed
	c.delayed = nil
	for _, u := range units {
		if !u.Awaits() {
			continue
		}
		if err := c.spawnAgain(u); err != nil {
			return err
		}
	}
	return nil
}
