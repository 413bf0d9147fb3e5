package console

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/states"
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
	due, err := c.rows(ctx, c.newWaits(v.now), idle)
	if err != nil {
		return nil, err
	}
	parked, err := c.store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobParked}, Limit: few})
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
	unoffered, err := c.unofferedJobs(ctx, v.now)
	if err != nil {
		return nil, err
	}
	return fragment{
		el("h1", say("What needs a person now")),
		when(len(stuck)+len(due)+len(parked)+len(unsent)+len(unasked)+len(unoffered) == 0, calm("✓ Nothing needs you now.")),
		when(len(stuck) > 0, el("h2", say("Runs that a person must decide about")), runTable(rowsOf(stuck), v.now)),
		when(len(due) > 0, el("h2", say("Runs that are due, and that no process drives")),
			soft(say("Start ebb serve, or the program that has their flow.")), runTable(due, v.now)),
		unaskedNode(unasked, v.now), unofferedNode(v, unoffered),
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
