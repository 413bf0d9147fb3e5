package command

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/jobs/bulk"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) bulkCommand() *cobra.Command {
	var o bulk.Input
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "bulk COMMAND FILTER",
		Short: "Give a command to all runs that a filter selects",
		Long: `Give a command to all runs that a filter selects: ` + strings.Join(bulk.Commands(), ", ") + `.
The filter is that of ebb list. A process that serves the database (ebb serve) gives the commands, in a run of
its own, whose id is printed: it survives a crash, and each run gets the command once.
ebb show of that run counts the commands, and its result lists the runs that refused.
With --dry-run, only say how many runs would get the command now.`,
		Example: `  ebb bulk retry 'state:FAILURE flow:trip ended:<1h' --dry-run
  ebb bulk cancel 'flow:trip label:team=a' --reason 'the offer has ended'`,
		Args: cobra.ExactArgs(2), //nolint:mnd // as Use says
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o.Command, o.Filter = args[0], args[1]
			if err := o.Check(); err != nil {
				return exit.Usagef("%w", err)
			}
			if dryRun {
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.countCommanded(ctx, store, o) })
			}
			return s.WithExisting(ctx, func(store *sqlstore.Store) error {
				job := jobs.Job{ID: jobs.NewID(bulk.Name), Flow: bulk.Name, Input: o}
				return s.postJob(ctx, store, "bulk "+o.Command, job, true)
			})
		},
	}
	cmd.Flags().StringVar(&o.Reason, "reason", "", "with cancel and revert: the reason, which is stored with the runs")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count the runs that would get the command")
	return cmd
}

// countCommanded prints how many runs would get a bulk command.
func (s subcommands) countCommanded(ctx context.Context, store backend.Store, in bulk.Input) error {
	n, err := bulk.Count(ctx, store, (&definition.Catalog{Store: store}).Waits, in)
	if failed, is := errors.AsType[*atom.Failure](err); is {
		return exit.Usagef("%s", failed.Message)
	}
	if err != nil {
		return exit.DatabaseError(err)
	}
	return s.Emit(struct {
		Runs int `json:"runs"`
	}{n}, "%d runs", n)
}
