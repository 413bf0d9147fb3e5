package console

import (
	"github.com/ebbflow/ebb/internal/inspect"
)

// mostChartRows is how many rows the table of a chart has.
const mostChartRows = 150

// legend says what the marks of the chart are: those that it has.
func (ch *chart) legend() node {
	var pause, slot, waits, fail bool
	ch.each(func(l *lane, p *part) {
		switch {
		case p.Kind == inspect.PeriodPause:
			pause = true
		case p.Kind == inspect.PeriodSlot:
			slot = true
		case l.idle(p):
			waits = true
		}
		fail = fail || p.failed(l)
	})
	const width = 28
	entry := func(has bool, means string, drawn ...node) node {
		return when(has, el("li", el("svg", class("ebb mark"), at("width", width), at("height", laneBar+4),
			attr("viewBox", "0 -2 28 20"), attr("aria-hidden", "true"), fragment(drawn)), words(" "), say(means)))
	}
	bar := el("g", class("s-failure"), el("rect", class("shape"), at("x", 1), at("y", 0), at("width", width-4),
		at("height", laneBar), attr("rx", "3")))
	middle := func(mark string, parts ...node) node {
		return el("line", append(parts, class(mark), at("x1", 0), at("x2", width), at("y1", laneBar/2),
			at("y2", laneBar/2))...)
	}
	return el("ul", class("legend"),
		entry(fail, "thick end: the attempt failed", bar, fails(width-3, 0)),
		entry(pause, "dashed line: pause before the next attempt", middle("pause")),
		entry(waits, "hatched: it waits, and nothing executes", waiting(1, 0, width-2)),
		entry(slot, "thin box: waits for a free slot", el("rect", class("idle slot"), at("x", 1),
			at("y", laneBar/2-2), at("width", width-2), at("height", 4))),
		entry(len(ch.scale.cuts) > 0, "zigzag: idle time is folded", el("path", class("cut"),
			attr("d", zigzag(10, 0, laneBar)+zigzag(18, 0, laneBar)))))
}

// each passes all parts of the lanes on.
func (ch *chart) each(pass func(*lane, *part)) {
	for _, lanes := range [][]lane{ch.lanes, ch.undone} {
		for i := range lanes {
			for j := range lanes[i].parts {
				pass(&lanes[i], &lanes[i].parts[j])
			}
		}
	}
}

// table says the same as the chart, also to those who cannot see it.
func (ch *chart) table() node {
	var rows fragment
	row := func(l *lane, p *part) {
		if len(rows) < mostChartRows {
			rows = append(rows, el("tr", el("td", words(l.path)), el("td", p.says(l)), el("td", exact(p.from)),
				el("td", class("num"), words(inspect.FormatDuration(p.to.Sub(p.from))))))
		}
	}
	ch.each(row)
	return when(len(rows) > 0, el("details", el("summary", say("The timeline as a table")),
		grid(heads("Step", "What", "From", "Took"), rows)))
}
