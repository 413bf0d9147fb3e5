package runfilter

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// MaxBars is the highest number of spans of time by which [Count] counts.
const MaxBars = 500

// Counts says how many runs a filter selects.
type Counts struct {
	States map[states.Flow]int // by state; states without a run are left out
	Bars   []Bar               // of the last spans of time, oldest first; spans without a run are left out
	// More reports that there may be more runs, all of them older than Back: the counts are what there are at least.
	More bool
	Back time.Time
}

// Total returns the number of runs in all states.
func (c *Counts) Total() (n int) {
	for _, of := range c.States {
		n += of
	}
	return n
}

// A Bar is the number of runs within a span of time: of the times by which the runs are ordered, see [Page].
type Bar struct {
	From   time.Time
	States map[states.Flow]int
}

// Count counts the runs that a filter selects by state and, if the width is not 0, also by spans of time of that width,
// in one pass. Bars are those of the last spans up to now, or up to the end of the filter's range: bars of them, and at
// most [MaxBars]. It counts newest first, and for a bounded number of runs or time as [Find] does. The search's Limit
// does not count.
func Count(ctx context.Context, lists backend.Lists, s Search, width time.Duration, bars int) (Counts, error) {
	further := s.begin()
	c := Counts{States: map[states.Flow]int{}}
	q, all, none := s.Filter.query(s.Now)
	if none {
		return c, nil
	}
	t := backend.TallyQuery{Width: width}
	if width > 0 {
		t.Since = firstSpan(&q, s.Now, width, min(bars, MaxBars))
	}
	q.After = s.Cursor.Place(&q)
	spans := map[int64]map[states.Flow]int{}
	for read, most := 0, min(firstRead, s.Read); most > 0; most = further(read) {
		t.Most = most
		part, looked, err := s.tally(ctx, lists, q, all, t)
		if err != nil {
			return c, err
		}
		for key, n := range part.Counts {
			if c.States[key.State] += n; spans[key.Span] == nil {
				spans[key.Span] = map[states.Flow]int{}
			}
			spans[key.Span][key.State] += n
		}
		if q.After = part.Last; q.After == nil {
			break
		}
		c.Back = placeOf(&q, q.After)
		read += looked
	}
	c.More = q.After != nil
	if delete(spans, backend.Before); width > 0 {
		for _, span := range slices.Sorted(maps.Keys(spans)) {
			c.Bars = append(c.Bars, Bar{time.UnixMicro(span * width.Microseconds()).UTC(), spans[span]})
		}
	}
	return c, nil
}

// firstSpan returns the beginning of the first of the spans of time that are counted by themselves.
func firstSpan(q *storage.RunQuery, now time.Time, width time.Duration, bars int) time.Time {
	last := q.CreatedTo
	if q.Order == storage.ByEnded {
		last = q.EndedTo
	}
	if last.IsZero() || last.After(now) {
		last = now
	}
	span := last.UnixMicro() / width.Microseconds()
	return time.UnixMicro(max(0, span-int64(bars)+1) * width.Microseconds()).UTC()
}

// tally counts runs in the store if the store decides all of the filter. Otherwise it reads and counts a page of runs.
// It returns how many it looked at.
func (s *Search) tally(ctx context.Context, lists backend.Lists, q storage.RunQuery, all bool, t backend.TallyQuery) (
	backend.Tally, int, error,
) {
	if all {
		part, err := lists.Tally(ctx, q, t)
		return part, t.Most, err
	}
	q.Limit = min(storage.PageRuns, t.Most)
	sight, err := lists.Look(ctx, q, t.Most)
	if err != nil {
		return backend.Tally{}, 0, err
	}
	selected, err := s.selects(ctx, sight.Runs)
	part, looked := backend.Tally{Counts: map[backend.TallyKey]int{}, Last: sight.Last}, t.Most
	for i := range sight.Runs {
		run := &sight.Runs[i]
		if err == nil && selected[i] {
			part.Counts[backend.TallyKey{State: run.State, Span: t.SpanOf(placeOf(&q, run))}]++
		}
	}
	if sight.More {
		part.Last, looked = &sight.Runs[len(sight.Runs)-1], costOfRun*len(sight.Runs)
	}
	return part, looked, err
}
