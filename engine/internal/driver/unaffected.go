package driver

import (
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/storage"
)

// didNothing reports whether nothing was done in the run of a unit, which has ended and is not undone with its
// unit. The runs of earlier attempts may have done something.
func (c *children) didNothing(u *scheduler.Unit, run *storage.Run) (bool, error) {
	if u.Reverts() || !u.Rec.NoneBegunBefore() {
		return false, nil
	}
	return unaffected(c.run, run)
}

// unaffected reports whether a run has ended, and none of its atoms may have left an effect. It reads up to the first
// atom that may have left one.
func unaffected(r *run, run *storage.Run) (bool, error) {
	if !run.State.Ended() || run.Outcome == storage.Succeeded || run.Outcome == storage.Continued {
		return false, nil
	}
	for a, err := range storage.EachAtom(r.storing, r.env.Store, run.ID, storage.AtomQuery{}) {
		if err != nil {
			return false, r.Wrap(err)
		}
		if a.LeftEffect() {
			return false, nil
		}
	}
	return true, nil
}
