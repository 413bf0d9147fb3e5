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
func Find(ctx context.Context, lists backend.Lists, s Search) (Page, error) {
	further := s.begin()
	q, all, none := s.Filter.query(s.Now)
	if none {
		return Page{}, nil
	}
	q.After = s.Cursor.Place(&q)
	var page Page
	bytes := 0
	for read, most := 0, min(firstRead, s.Read); ; {
		if q.Limit = storage.PageRuns; all {
			q.Limit = s.Limit + 1 - len(page.Runs)
		}
		sight, err := lists.Look(ctx, q, most)
		if err != nil {
			return Page{}, err
		}
		selected, err := s.selects(ctx, sight.Runs)
		if err != nil {
			return Page{}, err
		}
		for i := range sight.Runs {
			run := &sight.Runs[i]
			if selected[i] {
				if len(page.Runs) == s.Limit || bytes >= storage.PageBytes { // there is one more
					page.Next = CursorAt(&q, &page.Runs[len(page.Runs)-1])
					return page, nil
				}
				page.Runs = append(page.Runs, *run)
				bytes += codec.SizeOfRun(run)
			}
			page.Back = placeOf(&q, run)
		}
		switch {
		case sight.Last != nil:
			q.After = sight.Last
			page.Back = placeOf(&q, q.After)
			read += most
		case !sight.More:
			return page, nil
		default:
			q.After = &sight.Runs[len(sight.Runs)-1]
			read += costOfRun * len(sight.Runs)
		}
		if most = further(read); most <= 0 {
			page.Next = CursorAt(&q, q.After)
			return page, nil
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
