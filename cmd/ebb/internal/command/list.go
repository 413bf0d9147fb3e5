package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// listFlags are the flags of ebb list.
type listFlags struct {
	flow     string
	states   []string
	labels   []string
	limit    int
	before   string
	children bool
	stuck    bool
	countBy  string
}

func (s subcommands) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [FILTER...]",
		Short: "List runs, newest first",
		Long: `List runs, newest first, up to --limit. With --children also list runs that other runs
started, such as the items of a distributed Map. If there are more, the flag for the
next page is printed on standard error.

A FILTER is a list of terms that must all hold, such as 'state:FAILURE -flow:trip ended:<1h'.
The fields are flow, id, parent, definition, code, state, outcome, undo, label, created,
ended, is (top, person, open, ended) and waits (KIND or KIND=NAME, as in the JSON of ebb
waiting: waits:signal=approved); a minus excludes, commas separate alternatives, and * ends
the beginning of a text. With ended:, runs are ordered by their ends. A filter selects what
it says: also runs that other runs started, unless it has is:top. It takes the place of the
other flags that select runs. If it begins with a minus, write -- before it.

With --count-by, count the runs instead, by fields such as code,flow,label:region (also state,
outcome, undo, definition, parent): the largest groups, up to --limit. The JSON of a group has
the filter that selects its runs, for ebb bulk.`,
		Example: `  ebb list 'state:FAILURE -flow:trip ended:<1h'
  ebb list --state RUNNING,SUSPENDED
  ebb list --needs-person
  ebb list --flow trip --label team=billing --label region=eu
  ebb list 'state:FAILURE ended:<10m' --count-by code,flow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := f.query()
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			if f.countBy != "" {
				return s.countRuns(ctx, args, &f)
			}
			if len(args) > 0 {
				filter, err := f.filter(args)
				if err != nil {
					return err
				}
				return s.Reading(ctx, func(store *sqlstore.Store) error { return s.listFiltered(ctx, store, filter, &f) })
			}
			return s.Reading(ctx, func(store *sqlstore.Store) error { return s.list(ctx, store, q, f.before) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.flow, "flow", "", "only runs of this flow")
	flags.StringSliceVar(&f.states, "state", nil, "only runs in one of these states, such as RUNNING,SUSPENDED")
	flags.StringArrayVar(&f.labels, "label", nil, "only runs with this label, KEY=VALUE; if repeated, with all of them")
	flags.IntVar(&f.limit, "limit", 50, "maximum number of runs; 0 means all")
	flags.BoolVar(&f.children, "children", false, "also list runs that other runs started")
	flags.BoolVar(&f.stuck, "needs-person", false,
		"only runs that a person must decide about, such as runs whose undo failed")
	flags.StringVar(&f.countBy, "count-by", "", "count the runs by these fields, such as code,flow,label:region")
	flags.StringVar(&f.before, "before", "",
		"only runs that are older than this one, or that follow the place which a list has named")
	return cmd
}

func (f *listFlags) query() (storage.RunQuery, error) {
	q := storage.RunQuery{Flow: f.flow, Top: !f.children && !f.stuck, Stuck: f.stuck, Limit: f.limit}
	if f.limit < 0 {
		return q, exit.Usagef("--limit %d: want 0 for all, or more", f.limit)
	}
	for _, text := range f.states {
		var state states.Flow
		if err := state.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
			return q, exit.Usagef("--state: %s (runs whose undo failed: --needs-person)",
				strings.TrimPrefix(err.Error(), "states: "))
		}
		q.States = append(q.States, state)
	}
	var err error
	q.Labels, err = session.ParseLabels("label", f.labels)
	return q, err
}

func (s subcommands) list(ctx context.Context, store backend.Store, q storage.RunQuery, before string) error {
	if before != "" {
		place, err := placeBefore(ctx, store, before, &q)
		if err != nil {
			return err
		}
		q.After = place.Place(&q)
	}
	limit := q.Limit
	for listed := 0; ; {
		q.Limit = listedAtOnce
		if limit > 0 {
			q.Limit = max(1, min(q.Limit, limit-listed)) // the last one shows whether there are more
		}
		runs, err := store.Runs(ctx, q)
		if err == nil && q.Stuck && listed == 0 && before == "" {
			runs, err = withRefused(ctx, store, &q, runs)
		}
		switch {
		case err != nil:
			return exit.DatabaseError(err)
		case len(runs) == 0 && listed > 0:
			return nil
		case limit > 0 && listed == limit:
			s.Noticef("there are more: --before %s", runfilter.CursorAt(&q, q.After))
			return nil
		}
		if err := s.writeRuns(ctx, store, runs); err != nil || len(runs) == 0 {
			return err
		}
		listed, q.After = listed+len(runs), &runs[len(runs)-1]
	}
}

// withRefused adds, before the runs that need a person, those that processes refuse while no other drives them.
func withRefused(
	ctx context.Context, store backend.Store, q *storage.RunQuery, runs []storage.Run,
) ([]storage.Run, error) {
	refused, err := inspect.RefusedRuns(ctx, store, store.Now(), q.Limit)
	refused = slices.DeleteFunc(refused, func(r storage.Run) bool {
		for k, v := range q.Labels {
			if r.Labels[k] != v {
				return true
			}
		}
		return q.Flow != "" && r.Flow != q.Flow || len(q.States) > 0 && !slices.Contains(q.States, r.State) ||
			slices.ContainsFunc(runs, func(o storage.Run) bool { return o.ID == r.ID })
	})
	return append(refused, runs...), err
}

// placeBefore returns the place in a list that a flag names: a run, or a place that an earlier list has named, whose
// run may be gone.
func placeBefore(ctx context.Context, store backend.Store, text string, q *storage.RunQuery) (runfilter.Cursor, error) {
	run, err := session.FindRun(ctx, store, text)
	if err == nil {
		return runfilter.CursorAt(q, &run), nil
	}
	place := runfilter.ParseCursor(text)
	if exit.Of(err) == exit.NotFound && place.Place(q) != nil {
		err = nil
	}
	return place, err
}

// listedAtOnce is the number of runs that are read at a time and shown as one table.
//
//limit:shown `ebb list --limit 0`: runs in one table | {} | the next table
const listedAtOnce = 500

// writeRuns writes a table, or an object a line.
func (s subcommands) writeRuns(ctx context.Context, store backend.Store, runs []storage.Run) error {
	if s.JSON() {
		for i := range runs {
			if err := view.NewJSON(s.Out).Encode(inspect.RunOf(&runs[i])); err != nil {
				return err
			}
		}
		return nil
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintln(s.Out, "no runs")
		return err
	}
	at, err := placeOf(ctx, store)
	if err != nil {
		return err
	}
	now := store.Now()
	search := inspect.WaitingSearch{Now: now.Local()} //nolint:gosmopolitan // the user's own zone is meant
	search.Machine = (&definition.Catalog{Store: store}).Waits
	waits, err := inspect.NewWaits(store, search).Describe(ctx, runs)
	if err != nil {
		return exit.DatabaseError(err)
	}
	rows := make([][]string, len(runs))
	for i := range runs {
		if rows[i], err = at.columns(ctx, &runs[i], waits[i], now); err != nil {
			return err
		}
	}
	return writeTable(s.Out, []string{"RUN", "FLOW", "STATE", "AGE", "TOOK", "OWNER", "STEP", "LABELS", "WHY"}, rows)
}

// columns returns the columns of a run in the table.
func (p *place) columns(
	ctx context.Context, run *storage.Run, waits []inspect.RunWait, now time.Time,
) ([]string, error) {
	step, err := p.step(ctx, run)
	took, failure := "", ""
	if !run.Ended.IsZero() {
		took = view.Span(run.Ended.Sub(run.Started))
	}
	if run.Failure != nil {
		failure = view.Cause(run.Failure)
	}
	whole, because := "", ""
	switch {
	case len(waits) > 0 && waits[0].Hinders():
		whole = waits[0].Sentence()
	case run.AsksPerson():
		failure = "needs a person: " + visible.Line(run.Failure.Message)
	case run.Undo == storage.UndoFailed:
		failure = "undo failed: " + failure
		cause, err := inspect.CauseOfUndo(ctx, p.store, run.ID)
		if err != nil {
			return nil, exit.DatabaseError(err)
		}
		if cause != nil {
			because = "; undone because " + cut(visible.Line(cause.Atom)+" failed: "+view.Cause(cause))
		}
	}
	return []string{
		visible.Line(run.ID), visible.Line(run.Flow), run.State.String(), age(run.Created, now), took, p.owner(run), step,
		cut(labelText(run.Labels)), cmp.Or(whole, cut(failure)+because),
	}, err
}

// labelText returns labels in the order of their keys.
func labelText(labels map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, visible.Line(key+"="+labels[key]))
	}
	return strings.Join(parts, " ")
}
