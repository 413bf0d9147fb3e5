package console

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
)

// events shows a page of the history in the terms of the run's language, such as the events of AWS Step Functions.
func (p *runPage) events(ctx context.Context, from int64) (node, error) {
	list, next, err := inspect.EventPage(ctx, p.store, &p.run, max(from, 0), mostSteps)
	if err != nil {
		return nil, err
	}
	short := func(v atom.Value) node {
		return when(v != nil, code(beginning(v.String(), mostWords)), words(" "))
	}
	return fragment{
		soft(el("a", href(p.link("history")), say("Changes of the run and its atoms"))),
		when(len(list) == 0, calm("There are no events.")),
		when(len(list) > 0, grid(heads("#", "After", "Time", "Event", "State", "Details"),
			each(list, func(e *inspect.Event) node {
				return el("tr", el("td", class("num"), words(strconv.FormatInt(e.ID, 10))),
					el("td", class("num"), when(e.Previous > 0, words(strconv.FormatInt(e.Previous, 10)))),
					el("td", exact(e.Time)), el("td", words(e.Type)), el("td", when(e.State != "", words(e.State))),
					el("td", class("says"), short(e.Details), when(e.Key != "", words(e.Key+" ")), short(e.Body)))
			}))),
		when(next > 0, el("p", el("a", attr("rel", "next"),
			href(p.link("history", "events", "1", "after", strconv.FormatInt(next, 10))), say("Later lines →")))),
	}, nil
}
