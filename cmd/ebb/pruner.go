package main

import (
	"context"
	"math/rand/v2"
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
	tidy   func(context.Context) (int64, error) // gives the room back, when something was deleted
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
		runs, jobs, err := p.prune(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			p.log.Error("what is outdated could not be deleted", "runs", runs, "jobs", jobs, "error", err)
		case runs+jobs > 0:
			p.log.Info("what was outdated is deleted", "runs", runs, "jobs", jobs)
		}
	}
}

func (p *pruner) prune(ctx context.Context) (runs, jobs int, err error) {
	var ids []string
	err = outdated(ctx, p.store, p.policy, func(run *storage.Run) error { ids = append(ids, run.ID); return nil })
	if err == nil {
		runs, err = purge(ctx, p.store, ids)
	}
	if err == nil {
		jobs, err = pruneJobs(ctx, p.store, p.policy, time.Now())
	}
	if err == nil && runs+jobs > 0 {
		_, err = p.tidy(ctx)
	}
	return runs, jobs, err
}
