package console

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A runRow is a run in a list.
type runRow struct {
	inspect.Run
	Took  time.Duration
	Cause string
	Waits []inspect.RunWait
}

// rows returns rows that also say what the runs wait for.
func (c *console) rows(ctx context.Context, waits *inspect.Waits, runs []storage.Run) ([]runRow, error) {
	rows := rowsOf(runs)
	found, err := waits.Describe(ctx, runs)
	for i := range found {
		rows[i].Waits = found[i]
	}
	return rows, err
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
			if at := runs[i].Failure.Atom; at != "" {
				rows[i].Cause = at + ": " + rows[i].Cause
			}
		}
	}
	return rows
}

// A stateCount is how many of the runs that a filter selects are in a state.
type stateCount struct {
	State  string
	Count  int
	More   bool // there are more than Count
	Chosen bool
	Link   address
}

// A runsBody is a page of runs.
type runsBody struct {
	Filter, State string // the filter as it is typed, and the state that is chosen beside it
	Children      string // not "": with the runs that other runs have started
	Problem       string
	Counts        []stateCount
	Bars          []runfilter.Bar
	By            string           // the fields by which runs are counted, as they are typed; "" if they are not
	Groups        runfilter.Groups // by these fields
	Runs          []runRow
	Next          address   // address of the next page; "" if there is none
	Back          time.Time // how far back was looked, if there may be more runs than these
}

// flowStates are all states of a run, in the order in which a page shows them.
var flowStates = []states.Flow{
	states.FlowRunning, states.FlowSuspended, states.FlowPending, states.FlowSuccess, states.FlowFailure,
	states.FlowReverted,
}

// runs shows the runs that a filter selects.
func (c *console) runs(ctx context.Context, v *visit) (node, error) {
	b, err := c.findRuns(ctx, v.query, v.now)
	if err != nil {
		return nil, err
	}
	return b.node(v), nil
}

func (c *console) findRuns(ctx context.Context, q url.Values, now time.Time) (*runsBody, error) {
	b := &runsBody{Filter: q.Get("filter"), State: q.Get("state"), Children: q.Get("children"), By: q.Get("by")}
	filter, err := runfilter.Parse(b.Filter)
	if err != nil {
		b.Problem = err.Error()
	}
	chosen, wrong := chosenTerm(q)
	if wrong != nil {
		b.Problem = wrong.Error()
	}
	filter = filter.And(chosen)
	b.Filter = cmp.Or(filter.String(), b.Filter)
	with := func(field, value string) {
		term, err := runfilter.Term(field, value)
		if err != nil {
			b.Problem = err.Error()
		}
		filter = filter.And(term)
	}
	if b.Children == "" {
		with("is", "top")
	}
	all := filter // counts are of all states
	if b.State != "" {
		with("state", b.State)
	}
	if b.Problem != "" {
		return b, nil
	}
	if err := c.count(ctx, b, all, now); err != nil {
		return nil, err
	}
	if b.By != "" {
		by, err := runfilter.ParseBy(b.By)
		if err != nil {
			b.Problem = err.Error()
		} else if b.Groups, err = runfilter.CountBy(ctx, c.store, c.search(filter, now), by, nil); err != nil {
			return nil, err
		}
	}
	search := c.search(filter, now)
	search.Cursor, search.Limit = runfilter.ParseCursor(q.Get("after")), few
	page, err := runfilter.Find(ctx, c.store, search)
	if err != nil {
		return nil, err
	}
	if next := page.Next.String(); next != "" {
		b.Next = link("runs", "filter", b.Filter, "children", b.Children, "state", b.State, "after", next)
		if len(page.Runs) < few {
			b.Back = page.Back
		}
	}
	b.Runs, err = c.rows(ctx, search.Waits, page.Runs)
	return b, err
}

// count counts the runs of each state, and by the hour in which they were created or ended, as the filter orders them.
// Counting ends after a short time: then there are at least so many.
func (c *console) count(ctx context.Context, b *runsBody, filter runfilter.Filter, now time.Time) error {
	counts, err := runfilter.Count(ctx, c.store, c.search(filter, now), barWidth, mostBars)
	if err != nil {
		return err
	}
	for _, state := range flowStates {
		text := state.String()
		one := stateCount{State: text, Chosen: b.State == text, Count: counts.States[state], More: counts.More}
		if one.Chosen {
			text = ""
		}
		one.Link = link("runs", "filter", b.Filter, "children", b.Children, "state", text)
		b.Counts = append(b.Counts, one)
	}
	b.Bars = counts.Bars
	return nil
}

func (b *runsBody) node(v *visit) node {
	now := v.now
	return fragment{
		el("h1", say("Runs")),
		el("form", class("filter"), attr("method", "get"), attr("action", "runs"), attr("role", "search"),
			el("label", class("grow"), say("Filter"), words(" "), el("input", attr("name", "filter"), attr("value", b.Filter),
				attr("placeholder", "flow:trip -code:Full ended:<1h label:team=a"), attr("spellcheck", "false"),
				attr("autocapitalize", "off"))),
			el("input", attr("type", "hidden"), attr("name", "state"), attr("value", b.State)),
			el("label", class("check"), checkbox("children", b.Children != ""), words(" "), say("child runs")),
			el("button", say("Filter"))),
		b.filters(), filterHelp,
		when(b.Problem != "", el("p", attr("role", "alert"), words(b.Problem))),
		el("p", class("counts"), each(b.Counts, (*stateCount).node)),
		b.bars(now), b.groups(), b.commands(v),
		when(len(b.Runs) > 0, pickTable(v, b.Runs)),
		when(len(b.Runs) == 0, calm("No run matches.")),
		when(!b.Back.IsZero(), soft(say("These are the matches since {0}.", exact(b.Back)))),
		when(b.Next != "", el("p", el("a", href(b.Next), attr("rel", "next"), say("Older runs →")))),
	}
}

func (s *stateCount) node() node {
	count := " " + strconv.Itoa(s.Count)
	if s.More {
		count += "+"
	}
	return fragment{
		el("a", href(s.Link), class("count"), when(s.Chosen, attr("aria-current", "true")), chip(s.State), words(count)),
		words(" "),
	}
}

func checkbox(name string, checked bool) node {
	return el("input", attr("type", "checkbox"), attr("name", name), attr("value", "1"),
		when(checked, attr("checked", "")))
}

// filterHelp says what a filter can say.
var filterHelp = el("details", class("soft"), el("summary", say("What a filter can say")), el("p",
	say("Terms are separated by spaces, and all must hold: {0}, or a text with which the id begins. {1} before a term "+
		"negates it. {2} at the end of a value means that it is a beginning. Fields: {3}. Times: {4}, {5}, {6}. {7} is "+
		"one of {8}.", code("FIELD:VALUE,VALUE"), code("-"), code("*"),
		code(strings.Join(runfilter.Fields(), " ")), code("<1h"), code(">2d"),
		code("2026-11-01..2026-11-26"), code("is:"), code("top person open ended"))))

func code(text string) node { return el("code", words(text)) }
