package runfilter

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// MaxBars is the number of spans of time by which [Count] counts at most.
const MaxBars = 500

// Counts says how many runs a filter selects.
type Counts struct {
	States map[states.Flow]int // by state; states without a run are left out
	Bars   []Bar               // by spans of time, oldest first; spans without a run are left out
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

// Count counts the runs that a filter selects by state and, if the width is not 0, by spans of time of that width. With
// a width it counts only the runs of the [MaxBars] spans up to now, or up to the end of the filter's range. It counts
// newest first, and for a bounded number of runs or time as [Find] does. The search's Limit does not count.
func Count(ctx context.Context, lists storage.Lists, s Search, width time.Duration) (Counts, error) {
	further := s.begin()
	c := Counts{States: map[states.Flow]int{}}
	q, all, none := s.Filter.query(s.Now)
	if none {
		return c, nil
	}
	if width > 0 {
		since(&q, s.Now, width)
	}
	q.After = s.Cursor.place(&q)
	spans := map[int64]map[states.Flow]int{}
	for read, most := 0, min(firstRead, s.Read); most > 0; most = further(read) {
		part, looked, err := s.tally(ctx, lists, q, all, storage.Tallying{Most: most, Width: width})
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
	if width > 0 {
		for _, span := range slices.Sorted(maps.Keys(spans)) {
			c.Bars = append(c.Bars, Bar{time.UnixMicro(span * width.Microseconds()).UTC(), spans[span]})
		}
	}
	return c, nil
}

// since bounds the time by which the query orders runs to the spans that are counted.
func since(q *storage.RunQuery, now time.Time, width time.Duration) {
	from, to := &q.CreatedFrom, &q.CreatedTo
	if q.Order == storage.ByEnded {
		from, to = &q.EndedFrom, &q.EndedTo
	}
	last := *to
	if last.IsZero() || last.After(now) {
		last = now
	}
	span := last.UnixMicro() / width.Microseconds()
	if first := time.UnixMicro((span - MaxBars + 1) * width.Microseconds()); first.After(*from) {
		*from = first
	}
}

// tally counts runs in the store if the store decides all of the filter. Otherwise it reads and counts a page of runs.
// It returns how many it looked at.
func (s *Search) tally(ctx context.Context, lists storage.Lists, q storage.RunQuery, all bool, t storage.Tallying) (
	storage.Tally, int, error,
) {
	if all {
		part, err := lists.Tally(ctx, q, t)
		return part, t.Most, err
	}
	q.Limit = min(storage.PageRuns, t.Most)
	sight, err := lists.Look(ctx, q, t.Most)
	part, looked := storage.Tally{Counts: map[storage.TallyKey]int{}, Last: sight.Last}, t.Most
	for i := range sight.Runs {
		run := &sight.Runs[i]
		if s.Filter.Matches(run, s.Now) {
			key := storage.TallyKey{State: run.State}
			if t.Width > 0 {
				key.Span = placeOf(&q, run).UnixMicro() / t.Width.Microseconds()
			}
			part.Counts[key]++
		}
	}
	if part.Last == nil && len(sight.Runs) == q.Limit {
		part.Last, looked = &sight.Runs[q.Limit-1], costOfRun*q.Limit
	}
	return part, looked, err
}
