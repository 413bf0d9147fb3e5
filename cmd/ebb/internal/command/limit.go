package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) limitCommand() *cobra.Command {
	var of storage.Limit
	var rate string
	cmd := &cobra.Command{
		Use:   "limit [N | none]",
		Short: "Limit concurrent runs and the rate of jobs, or list the limits",
		Long: `Limit how many runs are driven at once: the runs of a flow, or of every flow. With
--label, the limit applies to each value of a label separately. Limits are stored in
the database and apply to all processes that drive its runs. A run that only waits
does not count. If a limit is reached, further runs wait; the run with the longest
wait continues first.

--rate N/TIME limits how many jobs are claimed within any such time, and does not
change N; --rate none removes the rate. none removes both. Without N and --rate, list
all limits.`,
		Example: `  ebb limit 10 --flow trip
  ebb limit 1 --label customer
  ebb limit --flow trip --rate 100/1m
  ebb limit none --flow trip`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if len(args) == 0 && rate == "" {
				if of != (storage.Limit{}) {
					return exit.Usagef("give a number of runs, such as ebb limit 10, or --rate 100/1m, or none")
				}
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.limits(ctx, store) })
			}
			change, err := limitChange(args, rate)
			if err != nil {
				return err
			}
			checked := of
			change(&checked)
			if err := backend.CheckLimit(&checked); err != nil {
				return exit.Usagef("%w", err)
			}
			set := func(store *sqlstore.Store) error {
				limits, err := store.Limits(ctx)
				if err != nil {
					return exit.DatabaseError(err)
				}
				limit := of
				for _, l := range limits {
					if l.Flow == of.Flow && l.Label == of.Label {
						limit = l
					}
				}
				change(&limit)
				err = store.SetLimit(s.Audited(ctx, "limit", limit.String()), limit)
				s.Done = err == nil
				return exit.DatabaseError(err)
			}
			if checked.Runs == 0 && checked.Rate == 0 { // it removes limits
				return s.WithExisting(ctx, set)
			}
			return s.WithStore(ctx, set)
		},
	}
	cmd.Flags().StringVar(&of.Flow, "flow", "", "count the runs of this flow (default: of every flow)")
	cmd.Flags().StringVar(&of.Label, "label", "", "count runs separately for each value of this label")
	cmd.Flags().StringVar(&rate, "rate", "", "limit of jobs claimed within a time, such as 100/1m, or none")
	return cmd
}

// limitChange returns the change that an argument and --rate make to a limit.
func limitChange(args []string, rate string) (func(*storage.Limit), error) {
	var to storage.Limit
	if len(args) > 0 && args[0] != "none" {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return nil, exit.Usagef("%s: want a number from 1 on, or none", args[0])
		}
		to.Runs = n
	}
	if rate != "" && rate != "none" {
		count, per, _ := strings.Cut(rate, "/")
		n, err := strconv.Atoi(count)
		d, bad := time.ParseDuration(per)
		if err != nil || bad != nil || n < 1 {
			return nil, exit.Usagef("--rate %s: want a number and a time, such as 100/1m, or none", rate)
		}
		to.Rate, to.Per = n, d
	}
	return func(l *storage.Limit) {
		if len(args) > 0 {
			l.Runs = to.Runs
		}
		if rate != "" || len(args) > 0 && args[0] == "none" {
			l.Rate, l.Per = to.Rate, to.Per
		}
	}, nil
}

func (s subcommands) limits(ctx context.Context, store backend.Store) error {
	limits, err := inspect.LimitUses(ctx, store)
	if err != nil {
		return exit.DatabaseError(err)
	}
	if len(limits) == 0 && !s.JSON() {
		_, err = fmt.Fprintln(s.Out, "no limits")
		return err
	}
	for i := range limits {
		l := &limits[i]
		if err := s.Emit(inspect.LimitOf(l), "%s", visible.Line(l.String())); err != nil {
			return err
		}
	}
	return nil
}
