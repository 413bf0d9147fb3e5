package console

import (
	"time"

	"github.com/ebbflow/ebb/internal/inspect"
)

const (
	mostTicks  = 6  // marks of a time axis
	tickGap    = 70 // least pixels between two marks
	axisHeight = 18 // below the lanes, for the times
)

// tickSteps are the times between two marks of an axis. Of longer times, a mark stands for a multiple of the last one.
var tickSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks returns the round times after the start at which the axis has marks. Times that are cut have none.
func (s *scale) ticks() (after []time.Duration) {
	step := tickSteps[len(tickSteps)-1]
	for _, one := range tickSteps {
		if s.took()/one < mostTicks {
			step = one
			break
		}
	}
	for s.took()/step >= mostTicks {
		step += tickSteps[len(tickSteps)-1]
	}
	last := chartLeft - tickGap
	for d := time.Duration(0); d <= s.took(); d += step {
		if x := s.x(s.began.Add(d)); x-last >= tickGap && !s.isCut(s.began.Add(d)) {
			after, last = append(after, d), x
		}
	}
	return after
}

// isCut reports whether a time lies in one that is cut.
func (s *scale) isCut(at time.Time) bool {
	for _, c := range s.cuts {
		if at.After(c.from) && at.Before(c.to) {
			return true
		}
	}
	return false
}

// axis draws a line through the lanes at each mark, with the time since the start below it.
func (ch *chart) axis(height int) node {
	ticks := ch.scale.ticks()
	return each(ticks, func(after *time.Duration) node {
		x, text := ch.scale.x(ch.scale.began.Add(*after)), "0"
		if *after > 0 {
			text = "+" + inspect.FormatDuration(*after)
		}
		return el("g", el("line", class("tick"), at("x1", x), at("x2", x), at("y1", chartTop), at("y2", height)),
			el("text", class("label"), attr("text-anchor", "middle"), at("x", x), at("y", height+axisHeight-5), words(text)))
	})
}
