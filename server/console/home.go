package console

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/storage"
)

// few is how many records of a kind a page shows.
const few = 50

// home shows what needs a person now.
func (c *console) home(ctx context.Context, v *visit) (node, error) {
	stuck, err := c.store.Runs(ctx, storage.RunQuery{Stuck: true, Brief: true, Limit: few})
	if err != nil {
		return nil, err
	}
	idle, err := c.store.Runs(ctx, storage.RunQuery{Due: v.now.Add(-time.Minute), Brief: true, Limit: few})
	if err != nil {
		return nil, err
	}
	list, err := inspect.RefusedRuns(ctx, c.store, v.now, few)
	if err != nil {
		return nil, err
	}
	idle = slices.DeleteFunc(idle, func(r storage.Run) bool {
		return slices.ContainsFunc(list, func(o storage.Run) bool { return o.ID == r.ID })
	})
	refused, err := c.rows(ctx, c.newWaits(v.now), list)
	if err != nil {
		return nil, err
	}
	due, err := c.rows(ctx, c.newWaits(v.now), idle)
	if err != nil {
		return nil, err
	}
	parked, err := inspect.ParkedJobs(ctx, c.store, few)
	if err != nil {
		return nil, err
	}
	unsent, err := c.store.ParkedMessages(ctx, few)
	if err != nil {
		return nil, err
	}
	unasked, err := c.unaskedGroups(ctx, v.now)
	if err != nil {
		return nil, err
	}
	held, err := c.heldJobs(ctx, v.now)
	if err != nil {
		return nil, err
	}
	return fragment{
		el("h1", say("What needs a person now")),
		when(len(stuck)+len(refused)+len(due)+len(parked)+len(unsent)+len(unasked)+len(held) == 0,
			calm("✓ Nothing needs you now.")),
		when(len(stuck)+len(refused) > 0, el("h2", say("Runs that a person must decide about")),
			runTable(append(rowsOf(stuck), refused...), v.now)),
		when(len(due) > 0, el("h2", say("Runs that are due, and that no process drives")),
			runTable(due, v.now)),
		unaskedNode(unasked, v.now), heldNode(v, held),
		when(len(parked) > 0, el("h2", say("Parked jobs")), el("ul", each(parked, func(j *storage.Job) node {
			failure := ""
			if j.Failure != nil {
				failure = ": " + j.Failure.Error()
			}
			return el("li", say("{0} of {1}", words(j.ID), words(j.Flow)), words(failure+" "), jobButtons(v, j))
		}))),
		when(len(unsent) > 0, el("h2", say("Messages that were sent in vain")),
			soft(say("The page of the run can send them again.")), el("ul", each(unsent, func(m *storage.Outgoing) node {
				return el("li", say("{0} to {1}", runLink(m.Run), words(redact.URL(m.Target))))
			}))),
	}, nil
}
