package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// listFlags are the flags of ebb list.
type listFlags struct {
	flow     string
	states   []string
	labels   []string
	limit    int
	before   string
	children bool
}

func (s *session) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Long: `List runs, newest first, as many as --limit says; with --children also those that
other runs have begun, such as the items of a distributed Map. When there are more, the line to
call for the next ones is told on standard error.`,
		Example: `  ebb list --state RUNNING,SUSPENDED
  ebb list --flow trip --label team=billing --label region=eu`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.query()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			return s.reading(ctx, func(store storage.Store) error { return s.list(ctx, store, q) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.flow, "flow", "", "only runs of this flow")
	flags.StringSliceVar(&f.states, "state", nil, "only runs in one of these states, such as RUNNING,SUSPENDED")
	flags.StringArrayVar(&f.labels, "label", nil, "only runs with this label, KEY=VALUE; with all of them when repeated")
	flags.IntVar(&f.limit, "limit", 50, "how many at most; 0 is all")
	flags.BoolVar(&f.children, "children", false, "also runs that other runs have begun")
	flags.StringVar(&f.before, "before", "", "only runs that are older than this one")
	return cmd
}

func (f *listFlags) query() (storage.RunQuery, error) {
	q := storage.RunQuery{Flow: f.flow, Top: !f.children, Limit: f.limit, Before: f.before}
	if f.limit < 0 {
		return q, usagef("--limit %d: want 0 for all, or more", f.limit)
	}
	for _, text := range f.states {
		var state states.Flow
		if err := state.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
			return q, usagef("--state: %w", err)
		}
		q.States = append(q.States, state)
	}
	var err error
	q.Labels, err = parseLabels(f.labels)
	return q, err
}

func (s *session) list(ctx context.Context, store storage.Store, q storage.RunQuery) error {
	if q.Before != "" {
		if _, err := findRun(ctx, store, q.Before); err != nil {
			return err
		}
	}
	limit := q.Limit
	for listed := 0; ; {
		q.Limit = listedAtOnce
		if limit > 0 {
			q.Limit = min(q.Limit, limit-listed)
		}
		q.Limit++ // one more tells whether there is more
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return unreachable(err)
		}
		more := len(runs) == q.Limit
		if more {
			runs = runs[:len(runs)-1]
		}
		if err := s.writeRuns(runs); err != nil || !more {
			return err
		}
		listed, q.Before = listed+len(runs), runs[len(runs)-1].ID
		if listed == limit {
			s.noticef("there are more: --before %s", q.Before)
			return nil
		}
	}
}

// listedAtOnce is how many runs are read at a time, and are one table.
const listedAtOnce = 500

// writeRuns writes a table, or an object a line.
func (s *session) writeRuns(runs []storage.Run) error {
	if s.output == asJSON {
		for i := range runs {
			if err := view.NewJSON(s.out).Encode(inspect.RunOf(&runs[i])); err != nil {
				return err
			}
		}
		return nil
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(s.out, "no runs")
		return err
	}
	labelled := slices.ContainsFunc(runs, func(r storage.Run) bool { return len(r.Labels) > 0 })
	heads := []string{"RUN", "FLOW", "STATE", "STARTED", "TOOK", "FAILURE"}
	if labelled {
		heads = slices.Insert(heads, 5, "LABELS")
	}
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(heads, "\t"))
	for i := range runs {
		fmt.Fprintln(table, strings.Join(columns(&runs[i], labelled), "\t"))
	}
	return table.Flush()
}

// columns returns what the table tells of a run.
func columns(run *storage.Run, labelled bool) []string {
	c := []string{visible.Line(run.ID), visible.Line(run.Flow), run.State.String(), "", ""}
	if !run.Started.IsZero() {
		c[3] = view.Clock(run.Started, time.DateTime)
	}
	if !run.Ended.IsZero() {
		c[4] = view.Span(run.Ended.Sub(run.Started))
	}
	if labelled {
		c = append(c, view.Page{Width: 60}.Cut(labelText(run.Labels)))
	}
	failure := ""
	if run.Failure != nil {
		failure = view.Page{Width: 60}.Cut(view.Cause(run.Failure))
	}
	return append(c, failure)
}

// labelText returns labels in the order of their keys.
func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, visible.Line(key+"="+labels[key]))
	}
	return strings.Join(parts, " ")
}
