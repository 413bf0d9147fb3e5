package runfilter

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

const (
	// MaxRead is how many runs [Find] reads at most, unless the [Search] sets a lower bound.
	MaxRead = 40_000
	// MaxTime is how long Find reads runs at most, if the [Search] has a clock.
	MaxTime = 120 * time.Millisecond
)

const (
	// firstRead is the number of runs that Find looks at first, because often most runs match, and because it learns from
	// them how long a store takes: from a few microseconds for each run up to a hundred.
	firstRead = 1000
	// costOfRun is how many runs a store looks at in the time in which it reads one.
	costOfRun = 20
	// maxAtOnce is the number of runs that a store is asked to look at most.
	maxAtOnce = 200_000
)

// A Search is what [Find] looks for.
type Search struct {
	Filter Filter
	Now    time.Time // time by which ages are reckoned
	Cursor Cursor    // where an earlier page ended; the zero Cursor begins with the newest run
	Limit  int       // maximum number of runs to return, at least 1; fewer have [storage.PageBytes]
	Read   int       // maximum number of runs to look at; 0 means [MaxRead]
	// Waits finds what runs wait for. Without it, a filter that asks for that is refused.
	Waits *inspect.Waits
	// Clock returns the time, if Find may look for [MaxTime] instead, however many runs that are; nil if it may not.
	Clock func() time.Time
}

// A Page is a part of the runs that a filter selects, newest first. Runs are newest by the time at which they ended if
// the filter asks for that time, and otherwise by the time at which they were created.
type Page struct {
	Runs []storage.Run
	Next Cursor // where the next page begins; the zero Cursor if there are no more runs
	// Back is the time of the oldest run that was looked at, by which the runs are ordered. If Next is set and there are
	// fewer runs than Limit, no other run since then matches.
	Back time.Time
}

// Query returns a query that lists runs in the order of the search.
func (s *Search) Query() storage.RunQuery {
	q, _, _ := s.Filter.query(s.Now)
	return q
}

// Find reads the runs that a filter selects. The store decides most of it, the rest is decided here, both for a bounded
// number of runs or time. So a page may have no run although there are more. Values that are payloads are not filled
// in, see [storage.RunQuery.Brief].
func Find(ctx context.Context, lists backend.Lists, s Search) (page Page, err error) {
	bytes := 0
	atOnce := func(all bool) int {
		if all {
			return max(s.Limit, 1) + 1 - len(page.Runs)
		}
		return storage.PageRuns
	}
	var full Cursor
	page.Next, page.Back, err = s.each(ctx, lists, atOnce, func(q *storage.RunQuery, run *storage.Run) bool {
		if len(page.Runs) == max(s.Limit, 1) || bytes >= storage.PageBytes { // there is one more
			full = CursorAt(q, &page.Runs[len(page.Runs)-1])
			return false
		}
		page.Runs = append(page.Runs, *run)
		bytes += codec.SizeOfRun(run)
		return true
	})
	if full.set {
		page.Next = full
	}
	return page, err
}

// each passes on the runs that the search selects, newest first, for a bounded number of runs or time, until take
// returns false. It reads as many at a time as atOnce says, which is told whether the store decides all of the filter.
// It returns where to continue and the time of the oldest run that was looked at, as a [Page] has them.
func (s *Search) each(ctx context.Context, lists backend.Lists, atOnce func(all bool) int,
	take func(*storage.RunQuery, *storage.Run) bool,
) (next Cursor, back time.Time, err error) {
	further := s.begin()
	q, all, none := s.Filter.query(s.Now)
	if none {
		return next, back, nil
	}
	q.After = s.Cursor.Place(&q)
	for read, most := 0, min(firstRead, s.Read); ; {
		q.Limit = atOnce(all)
		sight, err := lists.Look(ctx, q, most)
		if err != nil {
			return next, back, err
		}
		selected, err := s.selects(ctx, sight.Runs)
		if err != nil {
			return next, back, err
		}
		for i := range sight.Runs {
			run := &sight.Runs[i]
			if selected[i] && !take(&q, run) {
				return next, back, nil
			}
			back = placeOf(&q, run)
		}
		switch {
		case sight.Last != nil:
			q.After = sight.Last
			back = placeOf(&q, q.After)
			read += most
		case !sight.More:
			return next, back, nil
		default:
			q.After = &sight.Runs[len(sight.Runs)-1]
			read += costOfRun * len(sight.Runs)
		}
		if most = further(read); most <= 0 {
			return CursorAt(&q, q.After), back, nil
		}
	}
}

// begin completes the search. It returns a function that returns how many more runs may be looked at after that many.
func (s *Search) begin() (further func(read int) int) {
	if s.Read <= 0 {
		s.Read = MaxRead
	}
	s.Limit = max(s.Limit, 1)
	s.Now = s.Now.Truncate(time.Microsecond) // which stores compare
	if s.Clock == nil {
		return func(read int) int { return s.Read - read }
	}
	began := s.Clock()
	return func(read int) int {
		took := s.Clock().Sub(began)
		left := MaxTime - took
		if left < MaxTime/4 {
			return 0
		}
		most := float64(read) * float64(left) / float64(max(took, time.Millisecond))
		return max(int(min(most, maxAtOnce)), firstRead)
	}
}
