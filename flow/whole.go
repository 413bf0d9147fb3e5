package flow

// A FailurePolicy says how a flow handles the failure of an atom if no retry around the atom
// has attempts left.
type FailurePolicy uint8

// What a run undoes if an atom fails and no retry helps.
const (
	// UndoRun undoes the whole run.
	UndoRun FailurePolicy = iota
	// UndoFlow lets an exhausted retry undo only its own flow, unless a retry around it decides
	// otherwise.
	UndoFlow
	// LeaveFailed leaves failures as they are. Nothing is retried or undone, even if the flow
	// has retries.
	LeaveFailed
)

// whole takes over what a flow says of its runs as a whole. It is no part of the structure,
// so that it may change while runs are in flight.
func (c *compiler) whole(p *pattern, isRoot bool) {
	switch {
	case p.limit == nil && p.policy == UndoRun:
	case !isRoot:
		c.problemf(p.name, "", "", ErrInvalid,
			"flow %q stands inside another flow; a deadline and a failure policy are of the whole run, so set them on the "+
				"flow around all others", p.name)
	case p.policy > LeaveFailed:
		c.problemf(p.name, "", "", ErrInvalid, "flow %q has the failure policy %d, which is not known", p.name, p.policy)
	case p.limit == nil:
		c.plan.FailurePolicy = p.policy
	case *p.limit <= 0:
		c.problemf(p.name, "", "", ErrInvalid, "flow %q has a deadline of %v; want more than 0", p.name, *p.limit)
	default:
		c.plan.FailurePolicy, c.plan.Deadline = p.policy, *p.limit
	}
}
