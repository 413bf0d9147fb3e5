package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) auditCommand() *cobra.Command {
	var run string
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who commanded what",
		Long: `List the latest commands, oldest first: who gave each, to which run, job, schedule or
limit, and whether the run refused it. A line about a run is also in its history, and is
deleted with the run. Names of keys were checked. Other names are marked as claimed,
because a user who opens the database directly can give any name with --by.`,
		Example: `  ebb audit
  ebb audit --run trip-7 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return exit.Usagef("--limit %d: want 0 for all, or more", limit)
			}
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error { return s.audit(ctx, store, run, limit) })
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "only commands to this run")
	cmd.Flags().IntVar(&limit, "limit", 100, "maximum number of lines, the latest; 0 means all")
	return cmd
}

func (s subcommands) audit(ctx context.Context, store backend.Audits, run string, limit int) error {
	lines, _, err := inspect.Audit(ctx, store, backend.AuditQuery{Run: run, Limit: limit})
	if err != nil {
		return exit.DatabaseError(err)
	}
	if len(lines) == 0 && !s.JSON() {
		_, err := fmt.Fprintln(s.Out, "no commands")
		return err
	}
	for _, l := range slices.Backward(lines) {
		subject := cmp.Or(l.Subject, l.Run)
		if l.Path != "" {
			subject += " " + l.Path
		}
		line := fmt.Sprintf("%s  %-10s %-8s %s, by %s", view.Clock(l.Time, historyTime), visible.Line(l.Command), l.To,
			visible.Line(subject), visible.Line(l.Issuer()))
		if l.Failure != nil {
			line += ": " + visible.Line(l.Failure.Message)
		}
		if err := s.Emit(l, "%s", line); err != nil {
			return err
		}
	}
	return nil
}
