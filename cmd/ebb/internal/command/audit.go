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
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) auditCommand() *cobra.Command {
	var q backend.AuditQuery
	var f inspect.AuditFilter
	var when string
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who commanded what",
		Long: `List the latest commands, oldest first: who gave each, to which run, job, schedule or
limit, and whether the run refused it. Posted jobs are apart: --posts lists them. A line
about a run is also in its history, and is deleted with the run. Names of keys were
checked. Other names are marked as claimed, because a user who opens the database
directly can give any name with --by.`,
		Example: `  ebb audit
  ebb audit --run trip-7 -o json
  ebb audit --who ann --what cancel --when '<12h'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Limit < 0 {
				return exit.Usagef("--limit %d: want 0 for all, or more", q.Limit)
			}
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error {
				var err error
				if f.From, f.To, err = runfilter.ParseSpan(when, store.Now()); err != nil {
					return exit.Usagef("--when: %w", err)
				}
				return s.audit(ctx, store, q, &f)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&q.Run, "run", "", "only commands to this run")
	flags.StringVar(&f.By, "who", "", "only commands of this name")
	flags.StringVar(&f.Command, "what", "", "only this command, such as cancel, or bulk for all bulk commands")
	flags.StringVar(&when, "when", "", "only in this range of time, such as '<1h' or 2026-01-31..2026-02-01")
	flags.BoolVar(&f.Posts, "posts", false, "only posted jobs")
	flags.IntVar(&q.Limit, "limit", 100, "maximum number of lines, the latest; 0 means all")
	return cmd
}

func (s subcommands) audit(
	ctx context.Context, store backend.Audits, q backend.AuditQuery, f *inspect.AuditFilter,
) error {
	lines, next, err := inspect.Audit(ctx, store, q, f, 0)
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
	if next > 0 {
		s.Noticef("there are more lines, which are older: --limit 0 lists all")
	}
	return nil
}
