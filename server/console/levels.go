package console

import (
	"context"
	"strconv"

	"github.com/ebbflow/ebb/internal/inspect"
)

const (
	// rowsOfLevel is how many rows of a level a page has. The script asks for as many at a time.
	rowsOfLevel = 100
	// mostTold is how many lines a history has at most whose tree is built as a whole, with the states without atoms.
	mostTold = 2000
)

// levels shows a level of the tree of the run: the run itself, or what is below the path in the address. Without a
// script, links lead down, up and to further rows. With it, the rows are in a window in which levels unfold.
func (p *runPage) levels(ctx context.Context) (node, error) {
	p.visit.script = p.runScript
	if p.visit.windowed { // a level is expensive, and the script would not use its rows
		list := el("div", attr("data-own", ""), attr("data-levels", ""))
		return fragment{p.trail("tree", p.visit.query.Get("below")), list}, nil
	}
	l, err := p.level(ctx)
	if err != nil {
		return nil, err
	}
	return fragment{p.trail("tree", l.Below), p.rows(l)}, nil
}

// stepsPage shows the rows of a level and nothing else, for the script.
func (c *console) stepsPage(ctx context.Context, v *visit) (node, error) {
	p, err := c.openRun(ctx, v, v.query.Get("id"))
	if err != nil {
		return nil, err
	}
	v.title = words(p.run.ID)
	l, err := p.level(ctx)
	if err != nil {
		return nil, err
	}
	return fragment{el("h1", words(p.run.ID)), p.rows(l)}, nil
}

// level reads the part of a level that the address names.
func (p *runPage) level(ctx context.Context) (*inspect.Level, error) {
	from, _ := strconv.Atoi(p.visit.query.Get("from")) // a text that is no number begins at the start
	return p.console.levels.Read(ctx, p.store, &p.run, inspect.LevelQuery{
		Below: p.visit.query.Get("below"), From: from, Limit: rowsOfLevel,
	})
}

// trail links to the levels above, in a view.
func (p *runPage) trail(view, below string) node {
	if below == "" {
		return none
	}
	var up fragment
	for path := below; path != ""; {
		above, name := inspect.CutPath(path)
		at := el("a", href(p.levelLink(view, path, 0)), words(name))
		if path == below {
			at = el("b", words(name))
		}
		up = append(fragment{words(" › "), at}, up...)
		path = above
	}
	return el("nav", class("soft"), sayAttr("aria-label", "Levels above"),
		el("a", href(p.levelLink(view, "", 0)), say("All steps")), up)
}

// levelLink returns the address of a part of a level in a view.
func (p *runPage) levelLink(view, below string, from int) address {
	return p.partLink(view, &inspect.Level{Below: below, From: from})
}

// partLink is levelLink of a part that was read. Pairs may change what the address keeps.
func (p *runPage) partLink(view string, l *inspect.Level, pairs ...string) address {
	if l.From > 0 {
		pairs = append(pairs, "from", strconv.Itoa(l.From))
	}
	to := p.link(view, append(pairs, "below", l.Below)...)
	if l.Below == "" { // link leaves it out, but it says that the level is wanted
		to += "&below="
	}
	return to
}

// parts says which part of a level a page has, and links to the others.
func (p *runPage) parts(view string, l *inspect.Level) node {
	last := l.From + len(l.Rows)
	return when(l.Total > len(l.Rows), el("p", class("soft pages"),
		say("Steps {0} to {1} of {2}", number(l.From+1), number(last), number(l.Total)),
		when(l.From > 0, words(" · "), el("a", attr("rel", "prev"),
			href(p.levelLink(view, l.Below, max(0, l.From-rowsOfLevel))), say("← Earlier steps"))),
		when(last < l.Total, words(" · "), el("a", attr("rel", "next"), href(p.levelLink(view, l.Below, last)),
			say("Later steps →"))),
		when(last < l.Total-rowsOfLevel, words(" · "), el("a", href(p.levelLink(view, l.Below, l.Total-rowsOfLevel)),
			say("Last steps")))))
}

// rows shows a part of a level.
func (p *runPage) rows(l *inspect.Level) node {
	at := l.From
	return el("div", attr("data-own", ""), attr("data-levels", ""),
		attr("data-run", p.run.ID), attr("data-below", l.Below), attr("data-total", strconv.Itoa(l.Total)),
		attr("data-from", strconv.Itoa(l.From)), attr("data-size", strconv.Itoa(rowsOfLevel)),
		when(l.Total == 0, calm("No step has begun here.")),
		el("ul", class("tree"), sayAttr("aria-label", "Steps"), each(l.Rows, func(r *inspect.Row) node {
			at++
			return p.levelRow(l, r, at-1)
		})),
		when(l.Partial, soft(say("More atoms are here than are read. Open a level below."))),
		p.parts("tree", l))
}

// levelRow shows a row, whose number in the level is at.
func (p *runPage) levelRow(l *inspect.Level, r *inspect.Row, at int) node {
	to := p.partLink("tree", l, "atom", r.Path)
	cause := ""
	if r.Failure != nil && r.Items == nil {
		cause = reason(r.Failure)
	}
	return el("li", attr("data-key", r.Path), attr("data-at", strconv.Itoa(at)), when(r.Steps, attr("data-steps", "")),
		when(r.Path == p.chosen, class("chosen")),
		el("a", attr("data-name", ""), href(to), words(r.Name)), words(" "), chip(r.Status),
		when(!r.Started.IsZero() && r.Ended.After(r.Started), words(" "), took(r.Ended.Sub(r.Started))),
		when(r.Attempt > 1, el("span", class("soft"), words(" "), say("attempt {0}", number(r.Attempt)))),
		when(r.Items != nil, words(" "), stripNode(r.Items)),
		when(r.Steps, words(" "), el("a", class("down"), href(p.levelLink("tree", r.Path, 0)),
			sayAttr("aria-label", "Steps of {0}", words(r.Name)), say("steps"))),
		when(cause != "", words(" "), el("span", class("cause"), words(cause))))
}

// stripWidth is the width of a strip in pixels.
const stripWidth = 120

// stripNode shows how items stand: as a strip whose parts are as long as there are items, and as a text.
func stripNode(s *inspect.Strip) node {
	if s == nil {
		return none
	}
	all, before := max(s.Items(), 1), 0
	return el("span", class("strip"),
		el("svg", class("ebb"), attr("width", strconv.Itoa(stripWidth)), attr("height", "10"), attr("aria-hidden", "true"),
			each(s.Counts, func(c *inspect.StatusCount) node {
				x, end := before*stripWidth/all, (before+c.Count)*stripWidth/all
				before += c.Count
				return el("g", class("node", stateClass(c.Status)), el("rect", class("shape"), attr("x", strconv.Itoa(x)),
					attr("y", "0"), attr("width", strconv.Itoa(max(end-x, 1))), attr("height", "10")))
			})),
		words(" "), words(s.String()))
}
