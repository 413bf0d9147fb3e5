package console

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/storage"
)

// waitsOf returns what a run waits for in the terms of its language; nil if that is nothing, or not known here.
func (c *console) waitsOf(ctx context.Context, run *storage.Run) *grow.Waiting {
	if c.o.Machine == nil {
		return nil
	}
	m, err := c.o.Machine(ctx, run)
	if err != nil {
		return nil
	}
	return m.Waits(run)
}

// search returns the search for the runs of a filter, within a bounded time.
func (c *console) search(filter runfilter.Filter, now time.Time) runfilter.Search {
	return runfilter.Search{Filter: filter, Now: now, Clock: time.Now, Waits: c.newWaits(now)}
}

func (c *console) newWaits(now time.Time) *inspect.Waits {
	return inspect.NewWaits(c.store, inspect.WaitingSearch{Now: now, Machine: c.waitsOf})
}

// waiting shows what the runs that have not ended wait for, in groups. Each group leads to its runs.
func (c *console) waiting(ctx context.Context, v *visit) (node, error) {
	w, err := runfilter.Waiting(ctx, c.store, inspect.WaitingSearch{Now: v.now, Clock: time.Now, Machine: c.waitsOf})
	if err != nil {
		return nil, err
	}
	note := fragment{sayCount(w.Open, "{0} run has not ended.", "{0} runs have not ended.")}
	if w.Least {
		note = append(note, words(" "),
			sayCount(w.Looked, "The oldest was looked at: the counts are what there are at least.",
				"The {0} oldest were looked at: the counts are what there are at least."))
	}
	return fragment{
		el("h1", say("What runs wait for")), soft(note),
		when(len(w.Groups) == 0, calm("No run waits.")),
		when(len(w.Groups) > 0, grid(heads("Waits for", "Count", "Since", "First ends", "Oldest run"),
			each(w.Groups, func(g *inspect.WaitGroup) node {
				what, first, due := node(words(g.Sentence())), node(none), node(none)
				if g.Filter != "" {
					what = el("a", href(link("runs", "filter", g.Filter, "children", "1")), what)
				}
				if len(g.First) > 0 {
					first = runLink(g.First[0])
				}
				if !g.Due.IsZero() {
					due = exact(g.Due)
				}
				return el("tr", el("td", what), el("td", class("num"), words(strconv.Itoa(cmp.Or(max(g.Runs, g.Waits), 1)))),
					el("td", when(!g.Since.IsZero(), moment(g.Since, v.now))), el("td", due), el("td", first))
			}))),
	}, nil
}
