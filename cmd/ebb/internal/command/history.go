package command

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// historyTime is the form of times with milliseconds.
const historyTime = "2006-01-02 15:04:05.000"

// historyFlags are the flags of ebb history.
type historyFlags struct {
	events bool
	after  int64
	limit  int
}

func (s subcommands) historyCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history RUN",
		Short: "List the history of a run, in order",
		Long: `List each change of state of a run and its atoms, in the order of their commits.
With --events list the history of the run's language: for the Amazon States Language
the events of AWS, with AWS's numbers. The undo passes atoms that nothing reverts,
which is not listed; the line STAYS_DONE says what it leaves done. A line says who gave
each command (ebb audit lists those of all runs). All share the numbers of the lines, so
the numbers have gaps. With -o json each line is an object. If --limit cuts the
list, the number for --after is printed on standard error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error { return s.history(ctx, store, args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.events, "events", false, "the history of the run's language, such as AWS's events")
	flags.Int64Var(&f.after, "after", 0, "list only lines after the one with this number")
	flags.IntVar(&f.limit, "limit", 0, "maximum number of lines; 0 means all")
	return cmd
}

func (s subcommands) history(ctx context.Context, store backend.Store, id string, f *historyFlags) error {
	if f.after < 0 || f.limit < 0 {
		return exit.Usagef("--after %d, --limit %d: want 0 for all, or more", f.after, f.limit)
	}
	run, err := session.FindRun(ctx, store, id)
	if err != nil {
		return err
	}
	told := 0
	for e, err := range inspect.History(ctx, store, &run, f.after) {
		if err != nil {
			return exit.DatabaseError(err)
		}
		if (e.Kind == storage.EntryEvent) != f.events {
			continue
		}
		if told++; f.limit > 0 && told > f.limit {
			s.Noticef("there is more: --after %d", e.Seq-1)
			return nil
		}
		if told == 1 && !s.JSON() {
			fmt.Fprintln(s.Out, historyHead(f.events))
		}
		if err := s.entry(&run.Secrets, &e); err != nil {
			return err
		}
	}
	return nil
}

// historyHead returns the line above a history.
func historyHead(events bool) string {
	if events {
		return fmt.Sprintf("%4s  %4s  %-23s  %-28s %s", "ID", "PREV", "TIME", "TYPE", "PATH")
	}
	return fmt.Sprintf("%4s  %-23s  %-24s %s", "LINE", "TIME", "PATH", "CHANGE")
}

// entry writes one line.
func (s subcommands) entry(secrets *storage.Secrets, e *storage.Entry) error {
	at := view.Clock(e.Time, historyTime)
	if e.Kind == storage.EntryEvent {
		line := fmt.Sprintf("%4d  %4d  %s  %-28s %s", e.Number, e.Prev, at, e.Type, visible.Line(e.Path))
		return s.Emit(inspect.EventOf(secrets, e), "%s", strings.TrimRight(line, " "))
	}
	j := inspect.EntryOf(secrets, e)
	path := visible.Line(e.Path)
	if e.Kind == storage.EntryFlow {
		path = "(run)"
	}
	change := j.From + " → " + j.To
	if e.Kind == storage.EntryCommand {
		change = visible.Line(j.Command) + " " + j.To + ", by " + visible.Line(e.Issuer.String())
		path = cmp.Or(path, "(run)")
	}
	if e.Kind == storage.EntryStays || e.Kind == storage.EntryMayStay {
		change = j.To + " (no Revert)"
	}
	line := fmt.Sprintf("%4d  %s  %-24s %s", e.Seq, at, path, change)
	if e.Attempt > 1 {
		line += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.Waited >= time.Millisecond {
		line += "  waited " + view.Span(e.Waited) + " for a slot"
	}
	if e.Failure != nil {
		line += "  " + view.Cause(e.Failure)
	}
	return s.Emit(j, "%s", line)
}
