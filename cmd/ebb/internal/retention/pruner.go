package retention

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// pruneEvery is how often a serving process deletes outdated runs.
const pruneEvery = time.Hour

// A Pruner deletes the runs and jobs of a store that its policy does not keep.
type Pruner struct {
	Store  backend.Store
	Policy Policy
	// Tidy returns space to the file system, in bytes. It is called after runs or jobs were deleted.
	Tidy func(context.Context) (int64, error)
	Log  hclog.Logger // log of Run
}

// Run prunes every hour until ctx ends. Any number of processes may do so on one database; processes that start
// together do not prune together. If it cannot delete something, Run logs the error and retries an hour later.
func (p *Pruner) Run(ctx context.Context) {
	if len(p.Policy) == 0 {
		return
	}
	wait := rand.N(pruneEvery) //nolint:gosec // only spreads them
	for {
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		wait = pruneEvery
		done, err := p.Prune(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			p.Log.Error(logevent.PruneFailed, "runs", done.Runs, "jobs", done.Jobs, "error", err)
		case done.Runs+done.Jobs > 0:
			p.Log.Info(logevent.PruneDone, "runs", done.Runs, "jobs", done.Jobs)
		}
	}
}

// Pruned counts deleted runs and jobs.
type Pruned struct {
	Runs, Jobs int
	Bytes      int64 // returned to the file system
}

// Prune deletes the runs and jobs that the policy does not keep, a few at a time.
func (p *Pruner) Prune(ctx context.Context) (done Pruned, err error) {
	var runs, jobs, tidy error // an error of some runs does not keep the others
	done.Runs, runs = p.pruneRuns(ctx)
	done.Jobs, jobs = pruneJobs(ctx, p.Store, p.Policy, p.Store.Now())
	if done.Runs+done.Jobs > 0 {
		done.Bytes, tidy = p.Tidy(ctx)
	}
	return done, exit.DatabaseError(cmp.Or(runs, jobs, tidy))
}

// pruneRuns deletes outdated runs while it lists them, so that it holds few at a time.
func (p *Pruner) pruneRuns(ctx context.Context) (pruned int, err error) {
	var batch []string
	purge := func() error {
		n, err := p.Store.Purge(ctx, batch...)
		pruned, batch = pruned+n, batch[:0]
		return exit.DatabaseError(err)
	}
	err = Outdated(ctx, p.Store, p.Policy, func(run *storage.Run) error {
		if batch = append(batch, run.ID); len(batch) < purgeBatch {
			return nil
		}
		return purge()
	})
	if len(batch) > 0 {
		err = cmp.Or(err, purge())
	}
	return pruned, err
}
