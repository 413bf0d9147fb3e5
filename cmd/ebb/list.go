package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

func (s *session) listCommand() *cobra.Command {
	var flow string
	var wanted []string
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := storage.RunQuery{Flow: flow, Limit: limit}
			if limit < 0 {
				return usagef("--limit %d: want 0 for all, or more", limit)
			}
			for _, text := range wanted {
				var state states.Flow
				if err := state.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
					return usagef("--state: %w", err)
				}
				q.States = append(q.States, state)
			}
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error { return s.list(ctx, store, q) })
		},
	}
	cmd.Flags().StringVar(&flow, "flow", "", "only runs of this flow")
	cmd.Flags().StringSliceVar(&wanted, "state", nil, "only runs in one of these states, such as RUNNING,SUSPENDED")
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most; 0 is all")
	return cmd
}

func (s *session) list(ctx context.Context, store storage.Store, q storage.RunQuery) error {
	runs, err := store.Runs(ctx, q)
	if err != nil {
		return unreachable(err)
	}
	if s.output == asJSON {
		for i := range runs {
			if err := newJSON(s.out).Encode(runJSON(&runs[i])); err != nil {
				return err
			}
		}
		return nil
	}
	if len(runs) == 0 {
		fmt.Fprintln(s.out, "no runs")
		return nil
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join([]string{"RUN", "FLOW", "STATE", "STARTED", "TOOK", "FAILURE"}, "\t"))
	for i := range runs {
		fmt.Fprintln(table, strings.Join(columns(&runs[i]), "\t"))
	}
	return table.Flush()
}

// columns returns what the table tells of a run.
func columns(run *storage.Run) []string {
	c := []string{plainText(run.ID), plainText(run.Flow), run.State.String(), "", "", ""}
	if !run.Started.IsZero() {
		c[3] = clock(run.Started, time.DateTime)
	}
	if !run.Ended.IsZero() {
		c[4] = span(run.Ended.Sub(run.Started))
	}
	if run.Failure != nil {
		c[5] = page{width: 60}.cut(cause(run.Failure))
	}
	return slices.Clip(c)
}
