package console

import "context"

// continues says with which atoms an undo continues that a person mends. It says nothing if that cannot be read.
func (c *console) continues(ctx context.Context, v *visit, id string) node {
	p, err := c.openRun(ctx, v, id)
	if err != nil {
		return none
	}
	if p.why, err = p.diagnosis(ctx); err != nil {
		return none
	}
	left, err := p.notUndone(ctx)
	if err != nil || len(left) == 0 {
		return none
	}
	return fragment{p.namesLeft(left), soft(say("If the atom is then undone, the undo continues with these."))}
}

// revertible lists what a flow in Go has done and can undo, as its stored picture says. It says nothing if there is
// none.
func (c *console) revertible(ctx context.Context, v *visit, id string) node {
	p, err := c.openRun(ctx, v, id)
	if err != nil || p.isLarge() {
		return none
	}
	t, err := p.recorded(ctx)
	if err != nil {
		return none
	}
	paths, err := p.left(ctx, t)
	return when(err == nil && len(paths) > 0, el("h2", say("Can still be undone, last first")),
		el("ol", class("long"), each(paths, func(path *string) node { return el("li", p.atomLink(*path)) })))
}
