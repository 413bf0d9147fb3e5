package console

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/states"
)

// Sizes of the chart of runs.
const (
	barWidth  = time.Hour // that one bar stands for
	mostBars  = 72
	barPixels = 12
	barHeight = 48
)

// bars draws how many runs there were in each of the last hours, with those that did not succeed in a color of their
// own. Each bar is a link to its runs.
func (b *runsBody) bars(now time.Time) node {
	first := now.Truncate(barWidth).Add(-(mostBars - 1) * barWidth)
	most := 0
	var shown []runfilter.Bar
	for _, bar := range b.Bars {
		if !bar.From.Before(first) {
			shown = append(shown, bar)
			most = max(most, total(&bar))
		}
	}
	if most == 0 {
		return none
	}
	const days = number(mostBars * barWidth / (24 * time.Hour))
	note := say("Runs by hour of the last {0} days, those that failed or were undone in red:", days)
	return fragment{
		soft(note), framed(el("svg", class("ebb bars"), attr("width", strconv.Itoa(mostBars*barPixels)),
			attr("height", strconv.Itoa(barHeight)), attr("role", "group"),
			attr("viewBox", fmt.Sprintf("0 0 %d %d", mostBars*barPixels, barHeight)), attr("preserveAspectRatio", "none"),
			sayAttr("aria-label", "runs by hour, at most {0}", number(most)),
			each(shown, func(bar *runfilter.Bar) node {
				n := total(bar)
				bad := bar.States[states.FlowFailure] + bar.States[states.FlowReverted]
				x := int(bar.From.Sub(first)/barWidth) * barPixels
				height, below := max(3, n*barHeight/most), bad*barHeight/most //nolint:mnd // to be seen
				span := bar.From.UTC().Format(time.RFC3339) + ".." + bar.From.Add(barWidth).UTC().Format(time.RFC3339)
				to := link("runs", "filter", narrowedBy(b.Filter, "created", span), "children", b.Children, "state", b.State)
				const note = "{0}: runs {1}, failed or undone {2}"
				values := []node{words(bar.From.UTC().Format("Mon 2 Jan 15:04 UTC")), number(n), number(bad)}
				return el("a", href(to), sayAttr("aria-label", note, values...), el("title", say(note, values...)),
					rect("node s-success", x, barHeight-height, height),
					when(bad > 0, rect("node s-failure", x, barHeight-below, below)))
			}), el("line", class("axis"), attr("x1", "0"), attr("x2", strconv.Itoa(mostBars*barPixels)),
				attr("y1", strconv.Itoa(barHeight)), attr("y2", strconv.Itoa(barHeight)))), "runs by hour"),
		el("p", class("ends soft"), second(first), el("span", say("now"))),
	}
}

func rect(classes string, x, y, height int) node {
	return el("g", class(classes), el("rect", class("shape"), attr("x", strconv.Itoa(x)), attr("y", strconv.Itoa(y)),
		attr("width", strconv.Itoa(barPixels-2)), attr("height", strconv.Itoa(height)))) //nolint:mnd // a gap
}

func total(bar *runfilter.Bar) (n int) {
	for _, of := range bar.States {
		n += of
	}
	return n
}

// commands lead to a command for all runs that the filter selects, or for those that are chosen in the table.
func (b *runsBody) commands(v *visit) node {
	if !v.operates || len(b.Runs) == 0 {
		return none
	}
	filter := cmp.Or(b.Filter, "id:*")
	if b.State != "" {
		filter = narrowedBy(filter, "state", b.State)
	}
	if b.Children == "" {
		filter = narrowedBy(filter, "is", "top")
	}
	return el("div", class("buttons"), v.button("", "bulk", "", "f.filter", filter),
		el("form", attr("id", "pick"), attr("method", "get"), attr("action", commandPage),
			el("input", attr("type", "hidden"), attr("name", "of"), attr("value", "")),
			el("input", attr("type", "hidden"), attr("name", "do"), attr("value", "bulk")),
			el("button", say("Command for the chosen runs"))))
}

// narrowedBy returns a filter that also selects by a field. A filter that cannot be read stays as it is.
func narrowedBy(filter, field, value string) string {
	f, err := runfilter.Parse(filter)
	if err != nil {
		return filter
	}
	term, err := runfilter.Term(field, value)
	if err != nil {
		return filter
	}
	return f.And(term).String()
}

// pickTable shows runs that can be chosen, if the caller may command them.
func pickTable(v *visit, rows []runRow) node {
	if !v.operates {
		return runTable(rows, v.now)
	}
	return keptGrid(fragment{heads("Choose"), runHeads}, each(nested(rows), func(r *nestedRun) node {
		return el("tr", attr("data-key", r.Run.Run), el("td", el("input", attr("type", "checkbox"), attr("form", "pick"),
			attr("name", "pick"), attr("value", r.Run.Run), sayAttr("aria-label", "choose {0}", words(r.Run.Run)))),
			r.cells(v.now))
	}))
}
