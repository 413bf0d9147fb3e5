package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// historyTime is how times are written where milliseconds count.
const historyTime = "2006-01-02 15:04:05.000"

// historyFlags are the flags of ebb history.
type historyFlags struct {
	events bool
	after  int64
	limit  int
}

func (s *session) historyCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history RUN",
		Short: "List all that happened in a run, in order",
		Long: `List each change of state of a run and its atoms, in the order of their commits.
With --events the history is told in the words of the run's language: for the
Amazon States Language those of AWS, under AWS's numbers. With -o json there is
one object to a line. With --limit there are as many lines as that says; when there are
more, the number to go on after is told on standard error.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error { return s.history(ctx, store, args[0], &f) })
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.events, "events", false, "the history of the run's language, such as AWS's events")
	flags.Int64Var(&f.after, "after", 0, "only what comes after the line of this number")
	flags.IntVar(&f.limit, "limit", 0, "how many lines at most; 0 is all")
	return cmd
}

func (s *session) history(ctx context.Context, store storage.Store, id string, f *historyFlags) error {
	if f.after < 0 || f.limit < 0 {
		return usagef("--after %d, --limit %d: want 0 for all, or more", f.after, f.limit)
	}
	run, err := findRun(ctx, store, id)
	if err != nil {
		return err
	}
	told := 0
	for e, err := range storage.EachEntry(ctx, store, id, f.after) {
		if err != nil {
			return unreachable(err)
		}
		if (e.Kind == storage.EntryEvent) != f.events || e.Kind == storage.EntryAtom && e.Path == flow.GrowingPath {
			continue
		}
		if told++; f.limit > 0 && told > f.limit {
			s.noticef("there is more: --after %d", e.Seq-1)
			return nil
		}
		if err := s.entry(&run.Secrets, &e); err != nil {
			return err
		}
	}
	return nil
}

// entry writes one line.
func (s *session) entry(secrets *storage.Secrets, e *storage.Entry) error {
	if s.output == asJSON {
		if e.Kind == storage.EntryEvent {
			return view.NewJSON(s.out).Encode(inspect.EventOf(secrets, e))
		}
		return view.NewJSON(s.out).Encode(inspect.EntryOf(secrets, e))
	}
	at := view.Clock(e.Time, historyTime)
	if e.Kind == storage.EntryEvent {
		line := fmt.Sprintf("%4d  %4d  %s  %-28s %s", e.Number, e.Prev, at, e.Type, visible.Line(e.Path))
		_, err := fmt.Fprintln(s.out, strings.TrimRight(line, " "))
		return err
	}
	j := inspect.EntryOf(secrets, e)
	path := visible.Line(e.Path)
	if e.Kind == storage.EntryFlow {
		path = "(run)"
	}
	line := fmt.Sprintf("%4d  %s  %-24s %s → %s", e.Seq, at, path, j.From, j.To)
	if e.Attempt > 1 {
		line += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.Failure != nil {
		line += "  " + view.Cause(e.Failure)
	}
	_, err := fmt.Fprintln(s.out, line)
	return err
}
