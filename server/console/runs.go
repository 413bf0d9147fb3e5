package console

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/engine/inspect/runfilter"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// mostCounted is up to how many runs of a state are counted.
const mostCounted = 1000

// A runRow is a run in a list.
type runRow struct {
	inspect.Run
	Took  time.Duration
	Cause string
}

func rowsOf(runs []storage.Run) []runRow {
	rows := make([]runRow, len(runs))
	for i := range runs {
		rows[i].Run = inspect.RunOf(&runs[i])
		if runs[i].State.Ended() {
			rows[i].Took = runs[i].Ended.Sub(runs[i].Created)
		}
		if runs[i].Failure != nil {
			rows[i].Cause = inspect.Cause(runs[i].Failure)
		}
	}
	return rows
}

// A stateCount is how many of the runs that a filter selects are in a state.
type stateCount struct {
	State    string
	Count    int
	More     bool // there are more than Count
	Filtered bool // Count is not known
	Chosen   bool
	Link     string
}

// A runsBody is a page of runs.
type runsBody struct {
	Filter, State string // the filter as it is typed, and the state that is chosen beside it
	Children      string // not "": with the runs that other runs have started
	Problem       string
	Counts        []stateCount
	Runs          []runRow
	Next          string    // address of the next page; "" if there is none
	Back          time.Time // how far back was looked, if there may be more runs than these
}

// flowStates are all states of a run, in the order in which a page shows them.
var flowStates = []states.Flow{
	states.FlowRunning, states.FlowSuspended, states.FlowPending, states.FlowSuccess, states.FlowFailure,
	states.FlowReverted,
}

func (c *console) runs(ctx context.Context, q url.Values, now time.Time) (*runsBody, error) {
	b := &runsBody{Filter: q.Get("filter"), State: q.Get("state"), Children: q.Get("children")}
	filter, err := runfilter.Parse(b.Filter)
	if err != nil {
		b.Problem = err.Error()
	}
	b.Filter = cmp.Or(filter.String(), b.Filter)
	with := func(field, value string) {
		term, err := runfilter.Term(field, value)
		if err != nil {
			b.Problem = err.Error()
		}
		filter = filter.And(term)
	}
	if b.State != "" {
		with("state", b.State)
	}
	if b.Children == "" {
		with("is", "top")
	}
	if err := c.countStates(ctx, b); err != nil || b.Problem != "" {
		return b, err
	}
	page, err := runfilter.Find(ctx, c.store, runfilter.Search{
		Filter: filter, Now: now, Cursor: runfilter.ParseCursor(q.Get("after")), Limit: few,
	})
	if err != nil {
		return nil, err
	}
	if next := page.Next.String(); next != "" {
		b.Next = address("runs", "filter", b.Filter, "children", b.Children, "state", b.State, "after", next)
		if len(page.Runs) < few {
			b.Back = page.Back
		}
	}
	b.Runs = rowsOf(page.Runs)
	return b, nil
}

// countStates counts the runs of each state. With a filter it only links to them, because the store counts by few
// fields.
func (c *console) countStates(ctx context.Context, b *runsBody) error {
	for _, state := range flowStates {
		text := state.String()
		one := stateCount{State: text, Chosen: b.State == text, Filtered: b.Filter != ""}
		if !one.Filtered {
			n, err := c.store.CountRuns(ctx, storage.RunQuery{
				States: []states.Flow{state}, Top: b.Children == "", Limit: mostCounted + 1,
			})
			if err != nil {
				return err
			}
			one.Count, one.More = min(n, mostCounted), n > mostCounted
		}
		if one.Chosen {
			text = ""
		}
		one.Link = address("runs", "filter", b.Filter, "children", b.Children, "state", text)
		b.Counts = append(b.Counts, one)
	}
	return nil
}
