package storage

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
)

// A JobQuery selects jobs. If it selects only jobs that have not ended, they come in the order in which ClaimJobs would
// claim them: larger priority first, then older first. Otherwise they come in the order in which they were posted.
//
// The place of After in the listing are its Priority and its Number, so a listing continues after a job that has ended
// or was purged.
type JobQuery struct {
	States []states.Job // states of the jobs; empty means every state
	After  *Job         // only jobs that the listing has after the place of this one, for paging; nil means all
	Limit  int          // maximum number of jobs; 0 means all
}

// A Job is a posted request for a run. The process that claims the job creates the run. From then on the job is
// bound to the run and ends with it.
type Job struct {
	ID       string            // chosen by the caller that posted it
	Number   int64             `json:"-"` // set by the store; larger than those of stored jobs that were posted before
	Run      string            // id of the run that the job asks for
	Flow     string            // name of the flow
	Version  int64             // version of the flow; 0 means the latest
	Input    atom.Value        // input of the run
	Labels   map[string]string // what a process must offer to claim it
	Priority int               // jobs of larger priority are claimed first
	State    states.Job        // current state
	NotUntil time.Time         // earliest time of a claim; zero means at once
	Created  time.Time         // when it was posted
	Ended    time.Time         // when it ended, by the clock of the process that ended it; zero if it has not ended
	// RunLabels are the labels of the run. The store adds the labels for what the run needs.
	RunLabels map[string]string
	Trace     string // W3C traceparent under which the run starts; "" if there is none
	// Unique is a text that at most one job has that has not ended, over all flows; "" if there is none.
	Unique string `json:",omitempty"`

	Epoch    int64         // rises with each claim; the store compares it before it writes under a claim
	ClaimID  string        // id of the current claim; "" if no process has claimed the job, or its run exists
	Owner    string        // id of the process that claimed it last
	Lease    time.Time     // when the claim expires, by the store's clock; zero if the run exists
	Attempts int           // number of claims that did not create a run
	Failure  *atom.Failure // why the job is parked, or why its run failed; nil otherwise

	// Err is set in a list, if the record is damaged: why. Failure says it too, and what cannot be read is zero.
	Err error `json:"-"`
}
