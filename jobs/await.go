package jobs

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// awaitPause is how long Await waits before it looks again, if nothing tells it that the job may have changed.
const awaitPause = time.Second

// Await waits until the job is COMPLETE, or PARKED for a person, and returns its record, whichever process claims it.
// Its run need not exist yet. The failure of the record says whether the run failed; the run has the results, see
// [storage.Reader]. If ctx ends first, Await returns the error of ctx; if there is no such job, storage.ErrNotFound.
func (b *Board) Await(ctx context.Context, id string) (storage.Job, error) {
	for {
		changed := b.store.Changed()
		job, err := b.store.Job(ctx, id)
		if err != nil || job.State == states.JobComplete || job.State == states.JobParked {
			return job, err
		}
		b.rest(ctx, &job, changed)
		if ctx.Err() != nil {
			return storage.Job{}, ctx.Err()
		}
	}
}

// rest waits until a job may have changed.
func (b *Board) rest(ctx context.Context, job *storage.Job, changed <-chan struct{}) {
	ctx, stop := context.WithTimeout(ctx, awaitPause)
	defer stop()
	if job.State == states.JobClaimed && job.ClaimID == "" { // the job belongs to its run
		if _, err := b.store.AwaitEnd(ctx, job.Run); err == nil {
			return
		}
		changed = nil
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
}
