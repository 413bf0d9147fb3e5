package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// prunePage is how many runs are looked at, and purgeBatch how many deleted, at
// a time: so few that others need not wait for it.
const (
	prunePage  = 200
	purgeBatch = 50
)

func (s *session) pruneCommand() *cobra.Command {
	var keep []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune --keep AGE",
		Short: "Delete runs that ended long ago",
		Long: `Delete runs that ended longer ago than they are to be kept, with all that belongs to
them, and give the space back to the file system. --keep says how long, for all runs
(30d), those that ended in a state (:FAILURE=90d), those of a flow (trip=7d), or
those of a flow that ended in a state (trip:REVERTED=forever); the closest counts.
What no --keep is for is kept. Ages are in days (d), weeks (w), hours (h) and so on.

While ebb serve --keep serves, it does the same by itself each hour.

A run that was begun by another is kept as long as that is. Jobs that have ended go
with their runs, and those without a run as long ago as the runs of their flow do.`,
		Example: `  ebb prune --keep 30d --keep :FAILURE=90d --keep trip:REVERTED=forever --dry-run`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			policy, err := parseRetention(keep)
			if err != nil {
				return err
			}
			if len(policy) == 0 {
				return usagef("say how long runs are kept once they have ended, such as --keep 30d")
			}
			ctx := cmd.Context()
			if dry {
				return s.reading(ctx, func(store storage.Store) error { return s.prunable(ctx, store, policy) })
			}
			return s.prune(ctx, policy)
		},
	}
	cmd.Flags().StringArrayVar(&keep, "keep", nil, "how long to keep runs, [FLOW][:STATE]=AGE or AGE; may be repeated")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
	return cmd
}

// prunable lists what would be deleted.
func (s *session) prunable(ctx context.Context, store storage.Store, policy retention) error {
	n := 0
	err := outdated(ctx, store, policy, func(run *storage.Run) error {
		n++
		if s.output == asJSON {
			return view.NewJSON(s.out).Encode(inspect.RunOf(run))
		}
		_, err := fmt.Fprintf(s.out, "%s  %s  %s  ended %s\n", visible.Line(run.ID), visible.Line(run.Flow), run.State, view.Clock(run.Ended, time.DateTime))
		return err
	})
	if err == nil && s.output == asText {
		_, err = fmt.Fprintf(s.out, "%s would be deleted\n", count(n, "run"))
	}
	return err
}

func (s *session) prune(ctx context.Context, policy retention) error {
	// Looked at first: a database that is not there is not made for this.
	var ids []string
	err := s.reading(ctx, func(store storage.Store) (err error) {
		ids, err = outdatedRuns(ctx, store, policy)
		return err
	})
	if err != nil {
		return err
	}
	var done pruned
	err = s.withFile(ctx, func(store *sqlstore.Store) (err error) {
		p := pruner{store: store, policy: policy, tidy: store.Vacuum}
		done, err = p.purge(ctx, ids)
		return unreachable(err)
	})
	if err != nil {
		return err
	}
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(struct {
			Pruned int   `json:"pruned"`
			Jobs   int   `json:"jobs"`
			Bytes  int64 `json:"bytes"` // given back to the file system
		}{done.runs, done.jobs, done.bytes})
	}
	jobs := ""
	if done.jobs > 0 {
		jobs = " and " + count(done.jobs, "job")
	}
	_, err = fmt.Fprintf(s.out, "%s%s deleted, %.1f MB given back\n", count(done.runs, "run"), jobs, float64(done.bytes)/1e6)
	return err
}

// outdatedRuns returns the ids of the runs that are not to be kept.
func outdatedRuns(ctx context.Context, store storage.Store, policy retention) (ids []string, err error) {
	err = outdated(ctx, store, policy, func(run *storage.Run) error { ids = append(ids, run.ID); return nil })
	return ids, err
}

// pruneJobs deletes the jobs that ended longer ago than they are to be kept, and
// whose runs are gone, or never were. Of what they ended as their runs tell, so what
// is said of a state is not said of them.
func pruneJobs(ctx context.Context, store storage.Jobs, policy retention, now time.Time) (pruned int, err error) {
	var flows []string // that have a rule of their own
	for _, rule := range policy {
		if rule.flow != "" && rule.state == states.FlowPending {
			flows = append(flows, rule.flow)
		}
	}
	for _, rule := range policy {
		if rule.state != states.FlowPending || rule.age == forever {
			continue
		}
		q := storage.JobPurge{Before: now.Add(-rule.age), Flow: rule.flow, Limit: purgeBatch}
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

// outdated calls f with each run that ended longer ago than it is to be kept.
func outdated(ctx context.Context, store storage.Reader, policy retention, f func(*storage.Run) error) error {
	o := outdating{store: store, policy: policy, now: time.Now(), parents: map[string]bool{}}
	q := storage.RunQuery{States: []states.Flow{states.FlowSuccess, states.FlowFailure, states.FlowReverted}, Limit: prunePage}
	for {
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return unreachable(err)
		}
		for i := range runs {
			old, err := o.is(ctx, &runs[i])
			if err == nil && old {
				err = f(&runs[i])
			}
			if err != nil {
				return err
			}
		}
		if len(runs) < prunePage {
			return nil
		}
		q.Before = runs[len(runs)-1].ID
	}
}

// outdating tells which runs are outdated.
type outdating struct {
	store   storage.Reader
	policy  retention
	now     time.Time
	parents map[string]bool // those that are, by id
}

// is reports whether a run is outdated, and the one that began it, which may want
// it undone, is too, or is gone.
func (o *outdating) is(ctx context.Context, run *storage.Run) (bool, error) {
	age := o.policy.age(run)
	if !run.State.Ended() || age == forever || o.now.Sub(run.Ended) < age {
		return false, nil
	}
	if run.Parent == "" {
		return true, nil
	}
	if old, known := o.parents[run.Parent]; known {
		return old, nil
	}
	o.parents[run.Parent] = false // also for one that is its own ancestor, which cannot be
	old := true
	parent, err := o.store.Run(ctx, run.Parent)
	switch {
	case err == nil:
		if old, err = o.is(ctx, &parent); err != nil {
			return false, err
		}
	case !errors.Is(err, storage.ErrNotFound):
		return false, unreachable(err)
	}
	o.parents[run.Parent] = old
	return old, nil
}

// count returns "1 run" or "2 runs".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
