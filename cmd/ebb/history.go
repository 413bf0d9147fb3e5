package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// historyTime is how times are written where milliseconds count.
const historyTime = "2006-01-02 15:04:05.000"

// historyPage is how many entries are read at a time.
const historyPage = 1000

func (s *session) historyCommand() *cobra.Command {
	var events bool
	cmd := &cobra.Command{
		Use:   "history RUN",
		Short: "List all that happened in a run, in order",
		Long: `List each change of state of a run and its atoms, in the order of their commits.
With --events the history is told in the words of the run's language: for the
Amazon States Language those of AWS, under AWS's numbers. With -o json there is
one object to a line.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error { return s.history(ctx, store, args[0], events) })
		},
	}
	cmd.Flags().BoolVar(&events, "events", false, "the history of the run's language, such as AWS's events")
	return cmd
}

func (s *session) history(ctx context.Context, store storage.Store, id string, events bool) error {
	run, err := findRun(ctx, store, id)
	if err != nil {
		return err
	}
	for after := int64(0); ; {
		entries, err := store.History(ctx, id, after, historyPage)
		if err != nil {
			return unreachable(err)
		}
		for i := range entries {
			e := &entries[i]
			after = e.Seq
			if (e.Kind == storage.EntryEvent) != events || e.Kind == storage.EntryAtom && e.Path == flow.GrowingPath {
				continue
			}
			if err := s.entry(&run.Secrets, e); err != nil {
				return err
			}
		}
		if len(entries) < historyPage {
			return nil
		}
	}
}

// entry writes one line.
func (s *session) entry(secrets *storage.Secrets, e *storage.Entry) error {
	if s.output == asJSON {
		if e.Kind == storage.EntryEvent {
			return newJSON(s.out).Encode(eventJSON(secrets, e))
		}
		return newJSON(s.out).Encode(entryJSON(secrets, e))
	}
	at := clock(e.Time, historyTime)
	if e.Kind == storage.EntryEvent {
		line := fmt.Sprintf("%4d  %4d  %s  %-28s %s", e.Number, e.Prev, at, e.Type, visible.Line(e.Path))
		_, err := fmt.Fprintln(s.out, strings.TrimRight(line, " "))
		return err
	}
	j := entryJSON(secrets, e)
	path := visible.Line(e.Path)
	if e.Kind == storage.EntryFlow {
		path = "(run)"
	}
	line := fmt.Sprintf("%4d  %s  %-24s %s → %s", e.Seq, at, path, j.From, j.To)
	if e.Attempt > 1 {
		line += fmt.Sprintf("  attempt %d", e.Attempt)
	}
	if e.Failure != nil {
		line += "  " + cause(e.Failure)
	}
	_, err := fmt.Fprintln(s.out, line)
	return err
}
