package storage

import (
	"time"

	"github.com/ebbflow/ebb/states"
)

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
