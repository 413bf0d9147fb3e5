package command

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) processesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "processes",
		Short: "List the processes that use the database",
		Long: `List the processes that use the database, or did so until lately: on which machine, since when,
how many runs each drives, its slots, what it offers, and where it listens. A process that
"ended" was stopped in order; others take up the runs of one that "died".`,
		Example: `  ebb processes
  ebb processes -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error { return s.processes(ctx, store, store.Now()) })
		},
	}
}

func (s subcommands) processes(ctx context.Context, store backend.Store, now time.Time) error {
	list, err := inspect.Processes(ctx, store)
	if err != nil {
		return exit.DatabaseError(err)
	}
	rows := make([][]string, len(list))
	for i := range list {
		p := &list[i]
		if s.JSON() {
			if err := view.NewJSON(s.Out).Encode(p); err != nil {
				return err
			}
			continue
		}
		slots, seen := "", age(p.Seen, now)+" ago"
		if p.Serves {
			slots = strconv.Itoa(p.Slots)
		}
		rows[i] = []string{
			visible.Line(p.Host), strconv.Itoa(p.PID), p.State, age(p.Started, now), seen, strconv.Itoa(p.Runs), slots,
			p.Busy, labelText(p.Offers), visible.Line(p.Version), p.ShortRevision(),
			visible.Line(p.Address), visible.Line(p.Fault),
		}
	}
	switch {
	case s.JSON():
		return nil
	case len(list) == 0:
		_, err := fmt.Fprintln(s.Out, "no process uses the database")
		return err
	}
	return writeTable(s.Out, []string{
		"HOST", "PID", "STATE", "UP", "SEEN", "RUNS", "SLOTS", "BUSY", "OFFERS", "VERSION", "REVISION", "ADDRESS", "FAULT",
	}, rows)
}
