package backend

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Lists is the part of a [Reader] that finds runs.
type Lists interface {
	// Now returns the time by which the times in the store are judged, whichever process sets them: that of the
	// database's server, or of this machine for a file. It asks no server: the store knows how far the clocks of the
	// server and of this process differ.
	Now() time.Time
	// CountRuns returns how many runs Runs would return for q. Its cost grows with that number, which q.Limit bounds.
	CountRuns(ctx context.Context, q storage.RunQuery) (int, error)
	// Look returns the first of the runs that Runs would return for q. Where no index decides what q selects, it looks
	// at no more than most runs one by one, in the order of q, so that its cost is bounded. A store that holds its runs
	// in memory may look at all.
	Look(ctx context.Context, q storage.RunQuery, most int) (LookResult, error)
	// Tally counts the runs that q selects by their state and by the time that orders them. It counts among the first
	// runs that the index has for q, in its order: about t.Most, and all of the same microsecond. q.Limit does not
	// count.
	Tally(ctx context.Context, q storage.RunQuery, t TallyQuery) (Tally, error)
	// InProgress returns the progress of each of these runs, in their order. The runs are those of a page of Runs,
	// of which it reads ID and Number; a run that was purged has no progress. It reads up to most records of each kind
	// of all runs together, and reports whether it left some out. It takes few queries, however many runs there are.
	InProgress(ctx context.Context, runs []storage.Run, most int) (list []Progress, cut bool, err error)
	// Labeled returns, for each of these label keys, the ids of the runs that have not ended and have the label
	// with this value, ordered by id. Keys without such a run are left out. Labeled is one query, however many keys
	// there are. Its cost grows with the keys and the runs that it finds. It returns ErrInvalid for a text that
	// cannot be a key or a value of a label.
	Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error)
	// Descendants returns how many runs were created with that Run.Root. Purging some of them does not lower the
	// number. When the root and every run with that root are purged, the number returns to 0. If no run has that
	// root, Descendants returns 0 and no error.
	Descendants(ctx context.Context, root string) (int64, error)
}

// A LookResult is what [Lists.Look] found.
type LookResult struct {
	Runs []storage.Run
	// Last is the place of the last run that was looked at, if there may be more runs after it: no other run up to it
	// is selected. It has the fields that RunQuery.After needs. Nil means that Runs is what [Lists.Runs] returns.
	Last *storage.Run
	More bool // the page is full, as that of Runs may be: there may be more runs after the last of Runs
}

// A TallyQuery says how [Lists.Tally] counts.
type TallyQuery struct {
	Most  int           // number of runs to look at; a store that holds its runs in memory may look at all
	Width time.Duration // length of a span of time; 0 means that all times are one span
	// Since is the beginning of the first span: all earlier times are one span, whose number is Before. It is rounded
	// down to a multiple of Width. The zero time means that all spans count.
	Since time.Time
}

// Before is the number of the span of times before [TallyQuery.Since].
const Before = -1

// SpanOf returns the number of the span of a time.
func (t *TallyQuery) SpanOf(at time.Time) int64 {
	width := t.Width.Microseconds()
	if width <= 0 {
		return 0
	}
	span := at.UnixMicro() / width
	if !t.Since.IsZero() && span < t.Since.UnixMicro()/width {
		return Before
	}
	return span
}

// A Tally is what [Lists.Tally] counted.
type Tally struct {
	Counts map[TallyKey]int
	Last   *storage.Run // where the next Tally continues, as LookResult.Last; only its time is that of a run
}

// A TallyKey is what runs are counted by.
type TallyKey struct {
	State states.Flow
	Span  int64 // number of the span of time since 1970, for times since then
}

// CheckRunQuery returns an error that wraps ErrInvalid and names the problem if no store can answer the query.
func CheckRunQuery(q *storage.RunQuery) error {
	switch {
	case q.Order > storage.ByEnded:
		return fmt.Errorf("%w: a query of runs has order %d: use ByCreated or ByEnded", storage.ErrInvalid, q.Order)
	case !q.Due.IsZero() && (q.Order != storage.ByCreated || q.Reverse):
		return fmt.Errorf("%w: a query of due runs is ordered by Run.Due: set neither Order nor Reverse", storage.ErrInvalid)
	case len(q.Terms) > maxTerms:
		return fmt.Errorf("%w: a query of runs has %d terms: use at most %d", storage.ErrInvalid, len(q.Terms), maxTerms)
	}
	for i := range q.Terms {
		if err := checkRunTerm(&q.Terms[i]); err != nil {
			return err
		}
	}
	return nil
}
