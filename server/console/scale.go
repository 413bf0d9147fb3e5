package console

import (
	"cmp"
	"slices"
	"time"
)

const (
	foldedWidth = 30 // pixels of an idle time that is cut
	mostFolds   = 8  // idle times that are cut, the longest ones
	leastFold   = 20 // an idle time is long if the whole is less than this many times as long
)

// A scale places times on a chart. It may cut idle times, which then all have the same width.
type scale struct {
	began, ended time.Time
	cuts         []gap // in the order of time
	foldable     bool  // there are long idle times
}

// A gap is a time in which nothing executed.
type gap struct{ from, to time.Time }

func (c gap) took() time.Duration { return c.to.Sub(c.from) }

// newScale returns the scale of lanes.
func newScale(began, ended time.Time, lanes []lane, fold bool) scale {
	s := scale{began: began, ended: ended}
	all := idleTimes(began, ended, lanes)
	long := slices.DeleteFunc(all, func(c gap) bool { return c.took() < max(s.took()/leastFold, time.Millisecond) })
	slices.SortStableFunc(long, func(a, b gap) int { return cmp.Compare(b.took(), a.took()) })
	long = long[:min(len(long), mostFolds)]
	slices.SortFunc(long, func(a, b gap) int { return a.from.Compare(b.from) })
	if s.foldable = len(long) > 0; fold {
		s.cuts = long
	}
	return s
}

// idleTimes returns the times between two times in which no lane executes, in their order.
func idleTimes(began, ended time.Time, lanes []lane) []gap {
	var busy []gap
	for i := range lanes {
		for j := range lanes[i].parts {
			if p := &lanes[i].parts[j]; !lanes[i].idle(p) {
				busy = append(busy, gap{p.from, p.to})
			}
		}
	}
	slices.SortFunc(busy, func(a, b gap) int { return a.from.Compare(b.from) })
	var idle []gap
	at := began
	for _, b := range append(busy, gap{ended, ended}) {
		if b.from.After(at) {
			idle = append(idle, gap{at, b.from})
		}
		if b.to.After(at) {
			at = b.to
		}
	}
	return idle
}

func (s *scale) took() time.Duration { return s.ended.Sub(s.began) }

// x returns the place of a time in pixels from the left side of the chart.
func (s *scale) x(at time.Time) int {
	whole, before, left := s.took(), at.Sub(s.began), 0
	for _, c := range s.cuts {
		whole -= c.took()
		switch {
		case !at.Before(c.to):
			before -= c.took()
			left += foldedWidth
		case at.After(c.from): // in it
			inside := at.Sub(c.from)
			before -= inside
			left += int(float64(inside) / float64(c.took()) * foldedWidth)
		}
	}
	width := float64(chartWidth - len(s.cuts)*foldedWidth)
	return chartLeft + left + int(float64(before)/float64(max(whole, 1))*width)
}
