package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/states"
)

// Lists is the part of a [Reader] that finds runs.
type Lists interface {
	// Now returns the time by which the times in the store are judged, whichever process sets them: that of the database's
	// server, or of this machine for a file. It asks no server: the store knows how far the clocks of the server and of
	// this process differ.
	Now() time.Time
	// Runs returns the records of the runs that q selects. With a limit it may return fewer, see [PageBytes]; an empty
	// result means that none is left. [EachRun] reads them page by page. If the record of a run is damaged, the error is
	// in the Run.
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	// CountRuns returns how many runs Runs would return for q. Its cost grows with that number, which q.Limit bounds.
	CountRuns(ctx context.Context, q RunQuery) (int, error)
	// Look returns the first of the runs that Runs would return for q. Where no index decides what q selects, it looks at
	// no more than most runs one by one, in the order of q, so that its cost is bounded. A store that holds its runs in
	// memory may look at all.
	Look(ctx context.Context, q RunQuery, most int) (LookResult, error)
	// Tally counts the runs that q selects by their state and by the time that orders them. It counts among the first runs
	// that the index has for q, in its order: about t.Most, and all of the same microsecond. q.Limit does not count.
	Tally(ctx context.Context, q RunQuery, t TallyQuery) (Tally, error)
	// InProgress returns the progress of each of these runs, in their order. The runs are those of a page of Runs,
	// of which it reads ID and Number; a run that was purged has no progress. It reads up to most records of each kind of
	// all runs together, and reports whether it left some out. It takes few queries, however many runs there are.
	InProgress(ctx context.Context, runs []Run, most int) (list []Progress, cut bool, err error)
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
	Runs []Run
	// Last is the place of the last run that was looked at, if there may be more runs after it: no other run up to it is
	// selected. It has the fields that RunQuery.After needs. Nil means that Runs is what [Lists.Runs] returns.
	Last *Run
	More bool // the page is full, as that of Runs may be: there may be more runs after the last of Runs
}

// A TallyQuery says how [Lists.Tally] counts.
type TallyQuery struct {
	Most  int           // number of runs to look at; a store that holds its runs in memory may look at all
	Width time.Duration // length of a span of time; 0 means that all times are one span
	// Since is the beginning of the first span: all earlier times are one span, whose number is Before. It is rounded down
	// to a multiple of Width. The zero time means that all spans count.
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
	Last   *Run // where the next Tally continues, as LookResult.Last; only its time is that of a run
}

// A TallyKey is what runs are counted by.
type TallyKey struct {
	State states.Flow
	Span  int64 // number of the span of time since 1970, for times since then
}

// A RunQuery selects runs and orders them. The zero query selects all runs, newest first. Times are compared in
// microseconds. A range of time contains its beginning and not its end; a zero time is no bound.
//
// The place of a run in a listing is the time by which the listing is ordered, and then Run.Number. After needs only
// these fields. So a listing continues after a run that has changed or was purged. Runs that are created, or that end,
// while the pages are read may be missing.
type RunQuery struct {
	Flow     string            // name of the flow; "" means every flow
	States   []states.Flow     // states of the runs; empty means every state
	Outcomes []Outcome         // outcomes of the runs; empty means every outcome, and also none
	Labels   map[string]string // runs that have all of these labels
	Undos    []Undone          // how much of the runs was undone; empty means any
	Parent   string            // id of the run that started the runs; "" means any run, or none
	Terms    []RunTerm         // conditions on texts of the runs, which must all hold
	Top      bool              // only runs that no other run started
	Stuck    bool              // only runs that need a person, see [Run.NeedsPerson]

	// CreatedFrom and CreatedTo are a range of Run.Created, which is the time at which the run was accepted. It is
	// the start time of AWS (startDate, startTimestamp): a run has it before a process drives it.
	CreatedFrom, CreatedTo time.Time
	// EndedFrom and EndedTo are a range of Run.Ended. A run that has not ended is in no range of it.
	EndedFrom, EndedTo time.Time
	// Due selects the runs that were due by then and that no live process drives, and orders them by Run.Due: the run
	// that has been due for longest is the first. Zero means all runs.
	Due time.Time

	Order   RunOrder // time by which the runs are ordered
	Reverse bool     // the oldest run first
	Brief   bool     // leave out inputs and outputs that are payloads: their Held has only its Ref
	After   *Run     // only runs that the listing has after the place of this one, for paging; nil means all
	Limit   int      // maximum number of runs; 0 means all
}

// RunOrder is the time by which a [RunQuery] orders runs.
type RunOrder uint8

// The orders of runs. Unless the query reverses them, the newest run is the first.
const (
	ByCreated RunOrder = iota // by Run.Created
	ByEnded                   // by Run.Ended; selects only runs that have ended
)

// Check returns an error that wraps ErrInvalid and names the problem if no store can answer the query.
func (q *RunQuery) Check() error {
	switch {
	case q.Order > ByEnded:
		return fmt.Errorf("%w: a query of runs has order %d: use ByCreated or ByEnded", ErrInvalid, q.Order)
	case !q.Due.IsZero() && (q.Order != ByCreated || q.Reverse):
		return fmt.Errorf("%w: a query of due runs is ordered by Run.Due: set neither Order nor Reverse", ErrInvalid)
	case len(q.Terms) > maxTerms:
		return fmt.Errorf("%w: a query of runs has %d terms: use at most %d", ErrInvalid, len(q.Terms), maxTerms)
	}
	for i := range q.Terms {
		if err := q.Terms[i].check(); err != nil {
			return err
		}
	}
	return nil
}
