package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/retention"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) pruneCommand() *cobra.Command {
	var keep []string
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune --keep AGE",
		Short: "Delete runs that ended long ago",
		Long: `Delete runs that ended longer ago than --keep, with all their records, and return the
space to the file system. --keep sets the age for all runs (30d), for runs that ended
in a state (:FAILURE=90d), for runs of a flow (trip=7d), or for both
(trip:REVERTED=forever); the most specific one applies. Runs to which no --keep applies
stay. Ages are in days (d), weeks (w), hours (h) and so on.

ebb serve --keep does the same each hour.

A run that another run started stays as long as its parent. Ended jobs are deleted
with their runs. An ended job without a run is deleted at the age for its flow.`,
		Example: `  ebb prune --keep 30d --keep :FAILURE=90d --keep trip:REVERTED=forever --dry-run`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			policy, err := retention.Parse(keep)
			if err != nil {
				return err
			}
			if len(policy) == 0 {
				return exit.Usagef("set how long ended runs are kept, such as --keep 30d")
			}
			ctx := cmd.Context()
			if dry {
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.prunable(ctx, store, policy) })
			}
			return s.prune(ctx, policy)
		},
	}
	cmd.Flags().StringArrayVar(&keep, "keep", nil, "how long to keep runs, [FLOW][:STATE]=AGE or AGE; may be repeated")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the runs that would be deleted")
	return cmd
}

// prunable lists the runs that would be deleted.
func (s subcommands) prunable(ctx context.Context, store backend.Store, policy retention.Policy) error {
	n := 0
	err := retention.Outdated(ctx, store, policy, func(run *storage.Run) error {
		n++
		return s.Emit(inspect.RunOf(run),
			"%s  %s  %s  ended %s", visible.Line(run.ID), visible.Line(run.Flow), run.State,
			view.Clock(run.Ended, time.DateTime))
	})
	if err == nil && !s.JSON() {
		_, err = fmt.Fprintf(s.Out, "%s would be deleted\n", view.Count(n, "run"))
	}
	return err
}

func (s subcommands) prune(ctx context.Context, policy retention.Policy) error {
	var done retention.Pruned
	err := s.WithExisting(ctx, func(store *sqlstore.Store) (err error) {
		p := retention.Pruner{Store: store, Policy: policy, Tidy: store.Vacuum}
		done, err = p.Prune(ctx)
		return err
	})
	if err != nil {
		return err
	}
	jobs := ""
	if done.Jobs > 0 {
		jobs = " and " + view.Count(done.Jobs, "job")
	}
	return s.Emit(struct {
		Pruned int   `json:"pruned"`
		Jobs   int   `json:"jobs"`
		Bytes  int64 `json:"bytes"` // returned to the file system
	}{done.Runs, done.Jobs, done.Bytes},
		"%s%s deleted, %.1f MB given back", view.Count(done.Runs, "run"), jobs, float64(done.Bytes)/1e6)
}
