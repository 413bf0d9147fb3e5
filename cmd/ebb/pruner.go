package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/storage"
)

// pruneEvery is how often a process that serves looks for what is outdated.
const pruneEvery = time.Hour

// A pruner deletes what is kept no longer, as ebb prune does.
type pruner struct {
	store  storage.Store
	policy retention
	tidy   func(context.Context) (int64, error) // gives the space back, when something was deleted
	log    hclog.Logger
}

// run prunes until ctx ends. Any number of processes may, on one database; those that
// begin together do not prune together. What could not be deleted is the next time.
func (p *pruner) run(ctx context.Context) {
	if len(p.policy) == 0 {
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
		done, err := p.prune(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			p.log.Error("what is outdated could not be deleted", "runs", done.runs, "jobs", done.jobs, "error", err)
		case done.runs+done.jobs > 0:
			p.log.Info("what was outdated is deleted", "runs", done.runs, "jobs", done.jobs)
		}
	}
}

func (p *pruner) prune(ctx context.Context) (done pruned, err error) {
	ids, err := outdatedRuns(ctx, p.store, p.policy)
	if err != nil {
		return done, err
	}
	return p.purge(ctx, ids)
}

// pruned is what was deleted.
type pruned struct {
	runs, jobs int
	bytes      int64 // given back to the file system
}

// purge deletes runs, a few at a time, and the jobs that are outdated.
func (p *pruner) purge(ctx context.Context, ids []string) (done pruned, err error) {
	for batch := range slices.Chunk(ids, purgeBatch) {
		n, err := p.store.Purge(ctx, batch...)
		if err != nil {
			return done, err
		}
		done.runs += n
	}
	done.jobs, err = pruneJobs(ctx, p.store, p.policy, time.Now())
	if err == nil && done.runs+done.jobs > 0 {
		done.bytes, err = p.tidy(ctx)
	}
	return done, err
}
