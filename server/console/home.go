package console

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// few is how many records of a kind a page shows.
const few = 50

// A homeBody is what needs a person now.
type homeBody struct {
	Stuck   []runRow
	Parked  []storage.Job
	Waiting []runRow // due runs that no live process drives
}

func (c *console) home(ctx context.Context, now time.Time) (*homeBody, error) {
	stuck, err := c.store.Runs(ctx, storage.RunQuery{Stuck: true, Brief: true, Limit: few})
	if err != nil {
		return nil, err
	}
	due, err := c.store.Runs(ctx, storage.RunQuery{Due: now.Add(-time.Minute), Brief: true, Limit: few})
	if err != nil {
		return nil, err
	}
	parked, err := c.store.JobList(ctx, storage.JobQuery{States: []states.Job{states.JobParked}, Limit: few})
	return &homeBody{rowsOf(stuck), parked, rowsOf(due)}, err
}
