package api

import "github.com/ebbflow/ebb/internal/inspect"

// steps serves a part of a level of the tree of a run.
func (a *api) steps(c *call) (any, error) {
	run, limit, err := c.page(a)
	if err != nil {
		return nil, err
	}
	from, err := c.number("from", 0)
	if err != nil {
		return nil, err
	}
	return a.levels.Read(c.Context(), a.store, &run, inspect.LevelQuery{
		Below: c.query.Get("below"), From: int(from), After: c.query.Get("after"), Limit: limit,
	})
}

// strip counts the items below a step.
func (a *api) strip(c *call) (any, error) {
	run, err := c.run(a)
	if err != nil {
		return nil, err
	}
	strip, err := a.levels.Strip(c.Context(), a.store, &run, c.query.Get("below"))
	return strip, there(err, "step", c.query.Get("below"))
}
