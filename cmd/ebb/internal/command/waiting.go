package command

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

func (s subcommands) waitingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "waiting",
		Short: "List what all open runs wait for, in groups",
		Long: `List what the runs that have not ended, and the jobs that are not claimed, wait for, in
groups: a person, a process, an operator, a limit, workers of a queue, tokens, signals,
events, messages, other runs, and times by how soon they come. Of each group it says how
many runs wait, since when, and when the first wait ends. It looks at the oldest runs first,
for a fraction of a second.`,
		Example: `  ebb waiting
  ebb waiting -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return s.Reading(ctx, func(store *sqlstore.Store) error { return s.waiting(ctx, store, store.Now()) })
		},
	}
}

func (s subcommands) waiting(ctx context.Context, store backend.Store, now time.Time) error {
	w, err := runfilter.Waiting(ctx, store, inspect.WaitingSearch{
		Now: now, Clock: time.Now, Machine: (&definition.Catalog{Store: store}).Waits,
	})
	if err != nil {
		return exit.DatabaseError(err)
	}
	if s.JSON() {
		return view.NewJSON(s.Out).Encode(w)
	}
	if len(w.Groups) == 0 {
		_, err := fmt.Fprintln(s.Out, "no run waits")
		return err
	}
	rows := make([][]string, len(w.Groups))
	for i := range w.Groups {
		g := &w.Groups[i]
		since, due, first := "", "", ""
		if !g.Since.IsZero() {
			since = age(g.Since, now)
		}
		if !g.Due.IsZero() {
			due = view.Clock(g.Due, historyTime)
		}
		if len(g.First) > 0 {
			first = visible.Line(g.First[0])
		}
		rows[i] = []string{g.Sentence(), strconv.Itoa(max(g.Runs, g.Waits)), since, due, first}
	}
	if err := writeTable(s.Out, []string{"WAITS FOR", "COUNT", "AGE", "FIRST ENDS", "OLDEST"}, rows); err != nil {
		return err
	}
	switch {
	case w.Least && w.Looked == w.Open:
		s.Noticef("the counts are what there are at least")
	case w.Least:
		s.Noticef("%d of %d open runs were looked at, the oldest first: the counts are what there are at least", w.Looked,
			w.Open)
	}
	return nil
}
