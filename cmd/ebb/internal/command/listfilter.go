package command

import (
	"context"
	"errors"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
)

// filter returns the filter that the arguments are, which excludes the flags that select runs.
func (f *listFlags) filter(args []string) (runfilter.Filter, error) {
	if f.flow != "" || len(f.states)+len(f.labels) > 0 || f.children || f.stuck {
		return runfilter.Filter{}, exit.Usagef(
			"a filter, and --flow, --state, --label, --children or --needs-person: write flow:, state:, label: or is:person " +
				"in the filter, which selects children too")
	}
	filter, err := runfilter.Parse(strings.Join(args, " "))
	if wrong, is := errors.AsType[*runfilter.Error](err); is {
		return filter, exit.Usagef("%w", wrong)
	}
	return filter, err
}

// searchFor returns the search for the runs of a filter.
func searchFor(store backend.Store, filter runfilter.Filter) runfilter.Search {
	now := store.Now()
	machine := (&definition.Catalog{Store: store}).Waits
	return runfilter.Search{
		Filter: filter, Now: now, Waits: inspect.NewWaits(store, inspect.WaitingSearch{Now: now, Machine: machine}),
	}
}

// listFiltered lists the runs that a filter selects, page by page.
func (s subcommands) listFiltered(
	ctx context.Context, store backend.Store, filter runfilter.Filter, f *listFlags,
) error {
	search := searchFor(store, filter)
	if f.before != "" {
		q := search.Query()
		var err error
		if search.Cursor, err = placeBefore(ctx, store, f.before, &q); err != nil {
			return err
		}
	}
	for listed := 0; ; {
		search.Limit = listedAtOnce
		if f.limit > 0 {
			search.Limit = min(search.Limit, f.limit-listed)
		}
		page, err := runfilter.Find(ctx, store, search)
		if err != nil {
			return exit.DatabaseError(err)
		}
		more := page.Next != (runfilter.Cursor{})
		if len(page.Runs) > 0 || !more && listed == 0 {
			if err := s.writeRuns(ctx, store, page.Runs); err != nil {
				return err
			}
		}
		if listed += len(page.Runs); !more {
			return nil
		}
		if listed == f.limit {
			s.Noticef("there are more: --before %s", page.Next)
			return nil
		}
		search.Cursor = page.Next
	}
}
