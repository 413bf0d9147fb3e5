package driver

import "github.com/ebbflow/ebb/storage"

// didNothing reports whether nothing was done in the run of an atom of the plan, which has ended, and in which nothing
// can be undone.
func (c *children) didNothing(o origin, run *storage.Run) (bool, error) {
	if o.node != nil || c.undoes(o) {
		return false, nil
	}
	return unaffected(c.run, run)
}

// unaffected reports whether a run has ended, and none of its atoms may have had an effect. It reads up to the first
// atom that may have had one.
func unaffected(r *run, run *storage.Run) (bool, error) {
	if !run.State.Ended() || run.Outcome == storage.Succeeded || run.Outcome == storage.Continued {
		return false, nil
	}
	for a, err := range storage.EachAtom(r.storing, r.env.Store, run.ID, storage.AtomQuery{}) {
		if err != nil {
			return false, WrapStore(r.claim.Run, err)
		}
		if a.MayHaveEffect() {
			return false, nil
		}
	}
	return true, nil
}
