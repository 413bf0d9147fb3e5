package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// countedAtOnce is the number of runs that ebb list --count-by counts.
//
//limit:shown `ebb list --count-by`: runs that are counted | {}, the newest | `--before` counts older ones
const countedAtOnce = 100_000

// asFilter returns the filter that says what the arguments or the flags select.
func (f *listFlags) asFilter(args []string) (filter runfilter.Filter, err error) {
	if len(args) > 0 {
		return f.filter(args)
	}
	if _, err := f.query(); err != nil { // which says what is wrong with a flag
		return filter, err
	}
	and := func(field, value string) {
		term, wrong := runfilter.Term(field, value)
		if filter = filter.And(term); err == nil {
			err = wrong
		}
	}
	if f.flow != "" {
		and("flow", f.flow)
	}
	if len(f.states) > 0 {
		term, wrong := runfilter.Parse("state:" + strings.Join(f.states, ","))
		filter, err = filter.And(term), wrong
	}
	for _, label := range f.labels {
		and("label", label)
	}
	switch {
	case f.stuck:
		and("is", "person")
	case !f.children:
		and("is", "top")
	}
	return filter, err
}

// countRuns prints how many runs there are, by the fields that the flag names.
func (s subcommands) countRuns(ctx context.Context, args []string, f *listFlags) error {
	by, err := runfilter.ParseBy(f.countBy)
	if err != nil {
		return exit.Usagef("--count-by: %w", err)
	}
	filter, err := f.asFilter(args)
	if err != nil {
		return exit.Usagef("%w", err)
	}
	return s.Reading(ctx, func(store *sqlstore.Store) error {
		search := searchFor(store, filter)
		if f.before != "" {
			q := search.Query()
			if search.Cursor, err = placeBefore(ctx, store, f.before, &q); err != nil {
				return err
			}
		}
		groups, err := countAll(ctx, store, search, by)
		if err != nil {
			return exit.DatabaseError(err)
		}
		return s.writeGroups(&groups, by.Names(), f.limit)
	})
}

// countAll counts the runs of a search, up to a bound.
func countAll(
	ctx context.Context, store backend.Store, search runfilter.Search, by runfilter.By,
) (groups runfilter.Groups, err error) {
	for {
		groups, err = runfilter.CountBy(ctx, store, search, by, &groups)
		if err != nil || groups.Next == (runfilter.Cursor{}) || groups.Total() >= countedAtOnce {
			return groups, err
		}
		search.Cursor = groups.Next
	}
}

// writeGroups writes a table, or an object a line, of the largest groups.
func (s subcommands) writeGroups(groups *runfilter.Groups, by []string, limit int) error {
	shown := groups.Groups
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	if len(groups.Groups) == 0 && !s.JSON() {
		_, err := fmt.Fprintln(s.Out, "no runs")
		return err
	}
	heads := []string{"RUNS"}
	for _, name := range by {
		heads = append(heads, strings.ToUpper(name))
	}
	rows := make([][]string, 0, len(shown))
	for i := range shown {
		g := &shown[i]
		if s.JSON() {
			if err := view.NewJSON(s.Out).Encode(struct {
				By []string `json:"by"`
				*runfilter.Group
			}{by, g}); err != nil {
				return err
			}
		}
		row := []string{strconv.Itoa(g.Runs)}
		for _, value := range g.Values {
			row = append(row, visible.Line(value))
		}
		rows = append(rows, append(row, visible.Line(g.Newest)))
	}
	if !s.JSON() {
		if err := writeTable(s.Out, slices.Concat(heads, []string{"NEWEST"}), rows); err != nil {
			return err
		}
	}
	if more := len(groups.Groups) - len(shown); more > 0 || groups.Others > 0 {
		inShown := 0
		for i := range shown {
			inShown += shown[i].Runs
		}
		s.Noticef("%d more runs in other groups (--limit 0 shows the first %d groups)", groups.Total()-inShown,
			runfilter.MaxGroups)
	}
	if groups.Next != (runfilter.Cursor{}) {
		s.Noticef("these are the runs since %s; there are more: --before %s", view.Clock(groups.Back, time.DateTime),
			groups.Next)
	}
	return nil
}
