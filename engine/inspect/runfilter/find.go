package runfilter

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// MaxRead is the number of runs that [Find] reads at most, if a search does not say less.
const MaxRead = 2000

// A Search is what [Find] looks for.
type Search struct {
	Filter Filter
	Now    time.Time // time by which ages are reckoned
	Cursor Cursor    // where an earlier page ended; the zero Cursor begins with the newest run
	Limit  int       // maximum number of runs to return, at least 1
	Read   int       // maximum number of runs to read; 0 means [MaxRead]
}

// A Page is a part of the runs that a filter selects, newest first. Runs are newest by the time at which they ended if
// the filter asks for that time, and otherwise by the time at which they were created.
type Page struct {
	Runs []storage.Run
	Next Cursor // where the next page begins; the zero Cursor if there are no more runs
	// Back is the time of the oldest run that was read, by which the runs are ordered. If Next is set and there are
	// fewer runs than Limit, no other run since then matches.
	Back time.Time
}

// Find reads the runs that a filter selects. What the store decides by its indexes is asked of the store. The rest is
// decided here, for a bounded number of runs. So a page may have no run although there are more. Values that are
// payloads are not filled in, see [storage.RunQuery.Brief].
func Find(ctx context.Context, lists storage.Lists, s Search) (Page, error) {
	if s.Read <= 0 {
		s.Read = MaxRead
	}
	s.Limit = max(s.Limit, 1)
	s.Now = s.Now.Truncate(time.Microsecond) // which stores compare
	q, none := s.Filter.query(s.Now)
	if none {
		return Page{}, nil
	}
	q.After = s.Cursor.place(&q)
	var page Page
	// The first page is small, because often every run matches.
	for read, size := 0, s.Limit+1; ; size = storage.PageRuns {
		q.Limit = min(size, s.Read-read)
		runs, err := lists.Runs(ctx, q)
		if err != nil {
			return Page{}, err
		}
		for i := range runs {
			run := &runs[i]
			if s.Filter.Matches(run, s.Now) {
				if len(page.Runs) == s.Limit { // there is one more
					page.Next = cursorAt(&q, &page.Runs[s.Limit-1])
					return page, nil
				}
				page.Runs = append(page.Runs, *run)
			}
			page.Back = placeOf(&q, run)
		}
		if len(runs) < q.Limit {
			return page, nil
		}
		q.After = &runs[len(runs)-1]
		if read += len(runs); read >= s.Read {
			page.Next = cursorAt(&q, q.After)
			return page, nil
		}
	}
}
