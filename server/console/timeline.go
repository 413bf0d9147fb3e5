package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
)

// Sizes of a chart in pixels.
const (
	chartLeft  = 170
	chartWidth = 620
	laneHeight = 22
	mostLanes  = 60 // steps above the line, and below it
)

// A chart shows execution above a line, and undo below it. Each revert is connected to what it undoes.
type chart struct {
	Width, Height, Line int
	Bars                []bar
	Links               []chartLink
	Took                time.Duration
	More                int // steps that are left out
}

// A bar is the time of one step, or of its undo.
type bar struct {
	Name, Title, Status string
	X, Y, Width         int
}

// A chartLink leads from a step to its undo.
type chartLink struct{ X1, Y1, X2, Y2 int }

// chartOf returns the chart of a tree.
func chartOf(t *inspect.Tree) *chart {
	var all []*inspect.Step
	collect(&t.Top, &all)
	slices.SortStableFunc(all, func(a, b *inspect.Step) int { return a.Began.Compare(b.Began) })
	ch := &chart{Width: chartLeft + chartWidth + 20}
	if len(all) > mostLanes {
		ch.More = len(all) - mostLanes
		all = all[:mostLanes]
	}
	undone := t.Undone[:min(len(t.Undone), mostLanes)]
	begin, end := t.Began, t.Began
	for _, s := range slices.Concat(all, undone) {
		for _, at := range []time.Time{s.Began, s.Ended, s.Undo.Began, s.Undo.Ended} {
			if at.IsZero() {
				continue
			}
			if begin.IsZero() || at.Before(begin) {
				begin = at
			}
			if at.After(end) {
				end = at
			}
		}
	}
	ch.Took = end.Sub(begin)
	x := func(at time.Time) int {
		return chartLeft + int(float64(at.Sub(begin))/float64(max(ch.Took, 1))*chartWidth)
	}
	put := func(name, status string, t *inspect.Times, y int) bar {
		from, to := t.Began, t.Ended
		if to.IsZero() {
			to = end
		}
		return bar{
			Name: name, Status: status, X: x(from), Y: y, Width: max(4, x(to)-x(from)),
			Title: strings.Join(append([]string{name, status, inspect.Span(t.Took(end))}, t.Waits()...), " "),
		}
	}
	places := map[string]bar{}
	for i, s := range all {
		b := put(s.Path, string(s.Status()), &s.Times, i*laneHeight)
		places[s.Path] = b
		ch.Bars = append(ch.Bars, b)
	}
	ch.Line = len(all)*laneHeight + laneHeight/2
	for i, s := range undone {
		b := put(s.Path, s.State.String(), &s.Undo, ch.Line+laneHeight/2+i*laneHeight)
		ch.Bars = append(ch.Bars, b)
		if forward, ok := places[s.Path]; ok {
			ch.Links = append(ch.Links, chartLink{
				forward.X + forward.Width/2, forward.Y + laneHeight - 6, b.X + b.Width/2, b.Y + 2,
			})
		}
	}
	ch.Height = ch.Line + laneHeight + len(undone)*laneHeight
	return ch
}

// timeline shows when the steps were executed and undone.
func (p *runPage) timeline(ctx context.Context) (node, error) {
	t, err := p.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return chartOf(t).node(), nil
}

// node draws the chart.
func (ch *chart) node() node {
	px := strconv.Itoa
	note := fragment{say("Execution is above the line, undo below it. In all {0}.", words(inspect.Span(ch.Took)))}
	if ch.More > 0 {
		note = append(note, words(" "), say("{0} more steps are not drawn.", number(ch.More)))
	}
	at := func(name string, value int) node { return attr(name, px(value)) }
	return fragment{soft(note), framed(el("svg", class("ebb chart"), at("width", ch.Width), at("height", ch.Height),
		attr("viewBox", fmt.Sprintf("0 0 %d %d", ch.Width, ch.Height)), attr("role", "img"), el("title", say("Timeline")),
		el("line", class("axis"), attr("x1", "0"), at("x2", ch.Width), at("y1", ch.Line), at("y2", ch.Line)),
		each(ch.Links, func(l *chartLink) node {
			return el("path", class("undo"),
				attr("d", fmt.Sprintf("M%d %dC%d %d %d %d %d %d", l.X1, l.Y1, l.X1, l.Y2, l.X2, l.Y1, l.X2, l.Y2)))
		}),
		each(ch.Bars, func(b *bar) node {
			return el("g", class("node", stateClass(b.Status)), el("title", words(b.Title)),
				el("text", class("row"), attr("x", "4"), at("y", b.Y), attr("dy", "15"),
					words(symbols[b.Status]+" "+b.Name)),
				el("rect", class("shape"), at("x", b.X), at("y", b.Y), at("width", b.Width), attr("height", "16"),
					attr("rx", "3")))
		})), "timeline")}
}

// collect appends the steps below one that began and do not only contain others.
func collect(s *inspect.Step, all *[]*inspect.Step) {
	shown, _ := s.Few()
	for _, step := range shown {
		if !step.Inner && !step.Began.IsZero() && cmp.Or(step.Kind, "Task") == "Task" {
			*all = append(*all, step)
		}
		collect(step, all)
	}
}
