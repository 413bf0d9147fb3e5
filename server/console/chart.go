package console

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// Sizes of a chart in pixels.
const (
	chartLeft  = 170
	chartWidth = 620
	chartTop   = 18 // above the lanes, for how long the times are that are cut
	laneHeight = 22
	laneBar    = 16
	mostName   = 24 // characters of a name beside a lane
)

// chartStyle is the style sheet of charts, beside that of package draw.
const chartStyle = ".axis{stroke:var(--soft);stroke-width:1.5}.ebb .tick{stroke:var(--line)}" +
	".ebb .node .row{fill:var(--ink);font-size:12px}" +
	".ebb .idle{stroke:var(--line);stroke-width:1.25}.ebb .pause{stroke:var(--soft);stroke-width:2;" +
	"stroke-dasharray:2 3}.ebb .slot{fill:none;stroke-dasharray:1 2}" +
	".ebb .fails{stroke:var(--bad,#c92a2a);stroke-width:3}" +
	".ebb .hatch{stroke:var(--soft);stroke-width:1.25}.ebb .cut{fill:none;stroke:var(--soft);stroke-width:1.25}" +
	".ebb .node a:hover .row{text-decoration:underline}.ebb .chosen .row{font-weight:700;text-decoration:underline}\n"

// at writes a number of pixels as an attribute.
func at(name string, value int) node { return attr(name, strconv.Itoa(value)) }

// node draws the chart. If there is a page, the names of steps are links that choose them.
func (ch *chart) node(p *runPage) node {
	line := chartTop + len(ch.lanes)*laneHeight + laneHeight/2
	bottom := line + laneHeight + len(ch.undone)*laneHeight
	height := bottom + axisHeight
	width := chartLeft + chartWidth + 20
	role, style := "img", pictureStyle() // it stands on its own
	if p != nil {
		role, style = "group", none // an image hides the links in it from screen readers
	}
	forward := map[string]int{}
	for i := range ch.lanes {
		forward[ch.lanes[i].path] = i
	}
	var lanes, links fragment
	for i := range ch.lanes {
		lanes = append(lanes, ch.lane(p, &ch.lanes[i], chartTop+i*laneHeight))
	}
	for i := range ch.undone {
		l, y := &ch.undone[i], line+laneHeight/2+i*laneHeight
		lanes = append(lanes, ch.lane(p, l, y))
		if f, ok := forward[l.path]; ok {
			links = append(links, ch.link(&ch.lanes[f], l, chartTop+f*laneHeight, y))
		}
	}
	return el("svg", attr("xmlns", "http://www.w3.org/2000/svg"), class("ebb chart"), at("width", width),
		at("height", height), attr("viewBox", fmt.Sprintf("0 0 %d %d", width, height)), attr("role", role),
		el("title", say("Timeline")), style,
		el("defs", el("pattern", attr("id", "ebb-wait"), at("width", 6), at("height", 6),
			attr("patternUnits", "userSpaceOnUse"), el("path", class("hatch"), attr("d", "M-1 7 7-1")))),
		ch.axis(bottom), el("line", class("axis"), at("x1", 0), at("x2", width), at("y1", line), at("y2", line)),
		links, lanes, each(ch.scale.cuts, func(c *gap) node { return ch.cut(c, bottom) }))
}

// lane draws a step, and the parts of its time.
func (ch *chart) lane(p *runPage, l *lane, y int) node {
	name := el("text", class("row"), at("x", 4), at("y", y), attr("dy", "15"),
		words(symbols[l.status]+" "+shortName(l.path)))
	classes := []string{"node"}
	if p != nil {
		name = el("a", href(p.link(p.view, "atom", l.path)), name)
		if l.path == p.chosen {
			classes = append(classes, "chosen")
		}
	}
	return el("g", class(classes...), el("title", words(l.title)), name,
		each(l.parts, func(part *part) node { return ch.part(l, part, y) }))
}

// part draws an attempt or a pause: an attempt is a bar, which is hatched if the step only waited, and has a thick end
// if the attempt failed. A pause is a dashed line, and a wait for a slot a thin box.
func (ch *chart) part(l *lane, p *part, y int) node {
	x, end := ch.scale.x(p.from), ch.scale.x(p.to)
	width := max(4, end-x)
	title := el("title", words(l.path+" "), p.says(l))
	switch {
	case p.Kind == inspect.PeriodPause:
		return el("g", title, el("line", class("pause"), at("x1", x), at("x2", max(end, x+1)), at("y1", y+laneBar/2),
			at("y2", y+laneBar/2)))
	case p.Kind == inspect.PeriodSlot:
		return el("g", title, el("rect", class("idle slot"), at("x", x), at("y", y+laneBar/2-2), at("width", width),
			at("height", 4))) //nolint:mnd // thin
	case l.idle(p):
		return el("g", title, waiting(x, y, width), when(p.failed(l), fails(x+width, y)))
	}
	status := string(cmp.Or(p.Status, storage.Status(l.status)))
	return el("g", class(stateClass(status)), title,
		el("rect", class("shape"), at("x", x), at("y", y), at("width", width), at("height", laneBar), attr("rx", "3")),
		when(p.failed(l), fails(x+width, y)))
}

// fails draws the end of an attempt that failed.
func fails(x, y int) node {
	return el("line", class("fails"), at("x1", x), at("x2", x), at("y1", y-2), at("y2", y+laneBar+2))
}

// failed reports whether an attempt failed.
func (p *part) failed(l *lane) bool {
	switch cmp.Or(p.Status, storage.Status(l.status)) {
	case "FAILURE", "RETRYING", "REVERT_FAILURE":
		return p.Kind == inspect.PeriodAttempt && !p.Ended.IsZero()
	default:
		return false
	}
}

// cut draws where idle time was cut, and how long it was.
func (ch *chart) cut(c *gap, height int) node {
	middle := (ch.scale.x(c.from) + ch.scale.x(c.to)) / 2 //nolint:mnd // of the two
	return el("g", class("cuts"),
		el("title", say("Idle time that is folded: {0}", words(inspect.FormatDuration(c.took())))),
		el("path", class("cut"), attr("d", zigzag(middle-4, chartTop, height)+zigzag(middle+4, chartTop, height))),
		el("text", class("label"), attr("text-anchor", "middle"), at("x", middle), at("y", chartTop-6),
			words("⇿ "+inspect.FormatDuration(c.took()))))
}

// zigzag returns the path of a broken line that leads down.
func zigzag(x, y, end int) string {
	const step, side = 6, 3
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", x, y)
	for i := 1; y+i*step <= end; i++ {
		fmt.Fprintf(&d, "L%d %d", x+side*(i%2*2-1), y+i*step)
	}
	return d.String()
}

// link connects a revert to what it undoes.
func (ch *chart) link(of, undo *lane, y, below int) node {
	if len(of.parts) == 0 || len(undo.parts) == 0 {
		return none
	}
	center := func(p *part) int { return (ch.scale.x(p.from) + ch.scale.x(p.to)) / 2 } //nolint:mnd // of the two
	x1, y1 := center(&of.parts[len(of.parts)-1]), y+laneHeight-6
	x2, y2 := center(&undo.parts[len(undo.parts)-1]), below+2
	return el("path", class("undo"), attr("d", fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1, y2, x2, y1, x2, y2)))
}

// says tells what a part of a lane is, and how long it took.
func (p *part) says(l *lane) node {
	var took node = words(inspect.FormatDuration(p.to.Sub(p.from)))
	switch {
	case p.Kind == inspect.PeriodPause:
		return say("pause before attempt {0}: {1}", number(p.Number), took)
	case p.Kind == inspect.PeriodSlot:
		return say("wait for a free slot: {0}", took)
	case p.Kind == inspect.PeriodQueue:
		return fragment{say(waitNames[inspect.WaitsForWorker]), words(": "), took}
	case l.idle(p):
		return fragment{say(waitNames[l.waits]), words(": "), took}
	}
	status := words(cmp.Or(string(p.Status), l.status))
	return fragment{say("attempt {0}", number(p.Number)), words(" "), status, words(" "), took}
}

// waitNames say what a step waits for.
var waitNames = map[inspect.WaitKind]string{
	inspect.WaitsForTime: "waits for a time", inspect.WaitsForRun: "waits for a run",
	inspect.WaitsForSignal: "waits for a signal", inspect.WaitsForWorker: "waits for a worker",
	inspect.WaitsForToken: "waits for a token",
}

// waiting draws the bar of a wait. The page has the hatching, not the style sheet, as it is an element of the page.
func waiting(x, y, width int) node {
	return el("rect", class("idle"), attr("fill", "url(#ebb-wait)"), attr("rx", "3"), at("x", x), at("y", y),
		at("width", width), at("height", laneBar))
}

// shortName returns the end of a long path, which tells it from others.
func shortName(path string) string {
	if n := utf8.RuneCountInString(path); n > mostName {
		return "…" + string([]rune(path)[n-mostName+1:])
	}
	return path
}
