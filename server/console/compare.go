package console

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// A comparedStep is a step of two runs.
type comparedStep struct {
	path   string
	in     [2]*treeRow // nil if the run has no such step
	result [2]string   // as it is shown
}

// differs says in what the runs took different ways at the step, or got different results; nothing if in nothing.
func (s *comparedStep) differs(ids [2]string) (what fragment) {
	switch {
	case s.in[0] == nil:
		return fragment{say("only in {0}", words(ids[1]))}
	case s.in[1] == nil:
		return fragment{say("only in {0}", words(ids[0]))}
	case executed(s.in[0].Status) != executed(s.in[1].Status):
		what = append(what, say("state"))
	}
	if s.result[0] != s.result[1] {
		what = append(what, when(len(what) > 0, words(", ")), say("result"))
	}
	return what
}

// A step that took longer is told from one that took about as long by these.
const (
	longer      = 2                      // times as long
	leastLonger = 100 * time.Millisecond // and by so much
)

// slower says which of the runs took much longer at the step; nothing if neither did.
func (s *comparedStep) slower(ids [2]string) fragment {
	if s.in[0] == nil || s.in[1] == nil || s.in[0].Took == 0 || s.in[1].Took == 0 {
		return none
	}
	least, most, slow := s.in[0].Took, s.in[1].Took, ids[1]
	if least > most {
		least, most, slow = most, least, ids[0]
	}
	if most < longer*least || most-least < leastLonger {
		return none
	}
	return fragment{say("took {0} × as long in {1}", number(most/least), words(slow))}
}

// executed returns how the execution of a step ended, without its undo.
func executed(status string) string {
	switch status {
	case "REVERTING", "REVERTED", "REVERT_FAILURE", "STAYS_DONE", "MAY_STAY_DONE":
		return "SUCCESS"
	default:
		return status
	}
}

// compare shows two runs beside each other, with steps matched by their paths.
func (c *console) compare(ctx context.Context, v *visit) (node, error) {
	v.title = say("Compare")
	ids := [2]string{v.query.Get("a"), v.query.Get("b")}
	form := compareForm(ids[0], ids[1])
	if ids[0] == "" || ids[1] == "" {
		return fragment{el("h1", say("Compare two runs")), form}, nil
	}
	var pages [2]*runPage
	steps, places := []*comparedStep{}, map[string]*comparedStep{}
	for side, id := range ids {
		p, err := c.openRun(ctx, v, id)
		if errors.Is(err, storage.ErrNotFound) {
			return fragment{
				el("h1", say("Compare two runs")), el("p", attr("role", "alert"), say("There is no run {0}.", words(id))), form,
			}, nil
		}
		if err != nil {
			return nil, err
		}
		if pages[side] = p; p.isLarge() {
			long := calm("The history of {0} is too long to compare.", words(id))
			return fragment{el("h1", say("Compare two runs")), form, long}, nil
		}
		t, err := p.recorded(ctx)
		if err != nil {
			return nil, err
		}
		rows, _ := treeRows(nil, &t.Top, 0)
		for i := range rows {
			row := &rows[i]
			if row.Path == "" {
				continue
			}
			s := places[row.Path]
			if s == nil {
				s = &comparedStep{path: row.Path}
				places[row.Path] = s
				steps = append(steps, s)
			}
			s.in[side] = row
		}
		if err := p.results(ctx, side, places); err != nil {
			return nil, err
		}
	}
	picture, err := v.comparedRuns(ctx, pages, places)
	if err != nil {
		return nil, err
	}
	first := true
	return fragment{
		el("h1", say("Compare two runs")), form, picture,
		grid(fragment{
			heads("Step"), head(words(ids[0])), heads("Took"), head(words(ids[1])), heads("Took", "Differs"),
		}, fragment{
			el("tr", el("td", say("(run)")), pages[0].ended(), pages[1].ended(), el("td")),
			each(steps, func(at **comparedStep) node {
				s := *at
				what, slower := s.differs(ids), s.slower(ids)
				diverge := when(first && len(what) > 0, el("b", say("here the runs diverge:")), words(" "))
				first = first && len(what) == 0
				between := when(len(what) > 0 && len(slower) > 0, words("; "))
				return el("tr", el("td", words(s.path)), s.cells(ids, 0), s.cells(ids, 1),
					el("td", class("says"), diverge, what, between, slower))
			}),
		}),
	}, nil
}

// mostCause is how many bytes of a cause stand in a column, of which the page has several.
const mostCause = 200

// cells show a step of one of the runs.
func (s *comparedStep) cells(ids [2]string, side int) node {
	row := s.in[side]
	if row == nil {
		return fragment{el("td", words("–")), el("td")}
	}
	to := link("run", "id", ids[side], "view", "tree", "atom", s.path)
	cause := words(beginning(row.Cause, mostCause))
	return fragment{
		el("td", el("a", href(to), chip(row.Status)), words(" "), el("span", class("cause"), cause),
			when(s.result[0] != s.result[1], words(" "), code(s.clipped(side)))),
		el("td", class("num"), took(row.Took)),
	}
}

// clipped is the part of a result that differs from that of the other run, or its beginning if that is near.
func (s *comparedStep) clipped(side int) string {
	const most, before = 80, 20
	mine, other := []rune(s.result[side]), []rune(s.result[1-side])
	same := 0
	for same < len(mine) && same < len(other) && mine[same] == other[same] {
		same++
	}
	lead := ""
	if len(mine) > most && same > most/2 {
		mine, lead = mine[same-before:], "…"
	}
	if len(mine) > most {
		return lead + string(mine[:most]) + "…"
	}
	return lead + string(mine)
}

// results reads the results of the steps of a run.
func (p *runPage) results(ctx context.Context, side int, steps map[string]*comparedStep) error {
	for path, s := range steps {
		if s.in[side] == nil {
			continue
		}
		a, err := p.store.Atom(ctx, p.run.ID, path)
		if errors.Is(err, storage.ErrNotFound) {
			continue // a state that only computes
		}
		if err != nil {
			return err
		}
		if shown := inspect.AtomOf(&p.run, &a); shown.Result != nil {
			s.result[side] = shown.Result.String()
		}
	}
	return nil
}

// ended returns the cells of the run itself.
func (p *runPage) ended() node {
	lasted := time.Duration(0)
	if !p.run.Ended.IsZero() {
		lasted = p.run.Ended.Sub(p.run.Created)
	}
	return fragment{el("td", chip(p.run.State.String())), el("td", took(lasted))}
}

// compareForm asks for two runs.
func compareForm(a, b string) node {
	field := func(name string, title string, value string) node {
		return el("label", say(title), words(" "), el("input", attr("name", name), attr("value", value), attr("required", ""),
			attr("autocapitalize", "off"), attr("spellcheck", "false")))
	}
	return el("form", class("filter"), attr("method", "get"), attr("action", "compare"), field("a", "Run", a),
		field("b", "with run", b), el("button", say("Compare")))
}
