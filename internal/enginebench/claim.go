package enginebench

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// workers is how many workers claim jobs at the same time, and backlog how many jobs wait meanwhile.
const (
	workers = 8
	backlog = 1000
)

// claim posts jobs, claims them one at a time, and finishes each at once. A step is one job: three commits of its
// worker.
func claim(ctx context.Context, b *bench) error {
	input := atom.MustEncode(payload{body})
	post := func(ctx context.Context, id string) error {
		return b.target.store.PostJob(ctx, storage.Job{
			ID: id, Run: id, Flow: "bench-claim", Input: input,
			Created: time.Now(),
		})
	}
	if err := each(b.size(backlog), func(i int) error { return post(ctx, fmt.Sprintf("bench-claim-%d", i)) }); err != nil {
		return err
	}
	lanes := make([]*lane, workers)
	for i := range lanes {
		lanes[i] = b.meter.lane()
	}
	return b.during(ctx, func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		for i, l := range lanes {
			whole := context.WithoutCancel(ctx) // the last job of each worker ends, and no other begins
			g.Go(func() error {
				for k := 0; ctx.Err() == nil; k++ {
					if err := post(whole, fmt.Sprintf("bench-claim-%d-%d", i, k)); err != nil {
						return err
					}
					if err := b.finishOne(whole); err != nil {
						return err
					}
					l.step()
				}
				return nil
			})
		}
		return g.Wait()
	})
}

// finishOne claims a job and finishes it. Each worker has posted one, so a job is left, even if other workers claim the
// jobs that this worker sees first.
func (b *bench) finishOne(ctx context.Context) error {
	for {
		jobs, err := b.target.store.ClaimJobs(ctx, backend.JobClaim{Lease: time.Minute, Limit: 1})
		if err != nil {
			return err
		}
		if len(jobs) == 1 {
			j := &jobs[0]
			return b.target.store.EndJob(ctx, backend.JobEnd{
				Job: j.ID, Epoch: j.Epoch, ClaimID: j.ClaimID,
				State: states.JobComplete,
			})
		}
	}
}
