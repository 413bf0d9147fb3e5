package retention

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const (
	purgeBatch  = 50     // runs or jobs that are deleted at a time: so few that other processes need not wait
	keptParents = 10_000 // runs of which it is remembered whether they are outdated
)

// pruneJobs deletes outdated jobs whose runs do not exist. Only the flow of a job determines its age, because its
// run, which would tell the state, is gone.
func pruneJobs(ctx context.Context, store backend.Jobs, policy Policy, now time.Time) (pruned int, err error) {
	var flows []string // flows with a rule of their own
	for _, rule := range policy {
		if rule.flow != "" && rule.state == states.FlowPending {
			flows = append(flows, rule.flow)
		}
	}
	for _, rule := range policy {
		if rule.state != states.FlowPending || rule.age == forever {
			continue
		}
		q := backend.JobPurge{Before: now.Add(-rule.age), Flow: rule.flow, Limit: purgeBatch}
		if rule.flow == "" {
			q.Except = flows
		}
		for n := purgeBatch; n == purgeBatch; pruned += n {
			if n, err = store.PurgeJobs(ctx, q); err != nil {
				return pruned, err
			}
		}
	}
	return pruned, nil
}

// Outdated calls f with each run that ended longer ago than it is to be kept, newest first. F may delete the run. A run
// that cannot be judged, or for which f fails, does not keep f from the others; Outdated returns the first of the
// errors.
func Outdated(ctx context.Context, store backend.Reader, policy Policy, f func(*storage.Run) error) error {
	o := outdating{store: store, policy: policy, now: store.Now(), parents: map[string]bool{}}
	q := storage.RunQuery{States: []states.Flow{states.FlowSuccess, states.FlowFailure, states.FlowReverted}}
	var failed error
	for run, err := range storage.EachRun(ctx, store, q) {
		if err != nil {
			return cmp.Or(failed, exit.DatabaseError(err))
		}
		if len(o.parents) >= keptParents {
			clear(o.parents)
		}
		old, err := o.is(ctx, &run)
		if err == nil && old {
			err = f(&run)
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

// outdating decides which runs are outdated.
type outdating struct {
	store   backend.Reader
	policy  Policy
	now     time.Time
	parents map[string]bool // whether a parent is outdated, by id
}

// is reports whether a run is outdated. A child run is outdated only if its parent is too, or is gone, because the
// parent's undo may need the child.
func (o *outdating) is(ctx context.Context, run *storage.Run) (bool, error) {
	age := o.policy.age(run)
	if !run.State.Ended() || age == forever || o.now.Sub(run.Ended) < age {
		return false, nil
	}
	if undone, err := swf.IsBeingUndone(ctx, o.store, run); err != nil || undone {
		return false, exit.DatabaseError(err)
	}
	if run.Parent == "" {
		return true, nil
	}
	if old, known := o.parents[run.Parent]; known {
		return old, nil
	}
	o.parents[run.Parent] = false // also ends the recursion if a run were its own ancestor
	old := true
	parent, err := o.store.Run(ctx, run.Parent)
	switch {
	case err == nil:
		if old, err = o.is(ctx, &parent); err != nil {
			return false, err
		}
	case !errors.Is(err, storage.ErrNotFound):
		return false, exit.DatabaseError(err)
	}
	o.parents[run.Parent] = old
	return old, nil
}
