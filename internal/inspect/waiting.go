package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Waiting is what all runs that have not ended wait for, in groups.
type Waiting struct {
	Groups []WaitGroup `json:"groups"` // the groups that a person should look at first, then by number of runs
	Open   int         `json:"open"`   // number of runs that have not ended
	Looked int         `json:"looked"` // number of them that were looked at, the oldest first
	// The counts are what there are at least, because not all runs were looked at, or not all atoms of a run.
	Least bool `json:"least,omitzero"`
}

// A WaitGroup are the runs that wait for the same thing.
type WaitGroup struct {
	Kind  WaitKind `json:"kind"`           // what they wait for
	Name  string   `json:"name,omitempty"` // of the queue, task, signal, limit or flow; of times, how soon
	Runs  int      `json:"runs"`           // number of runs
	Waits int      `json:"waits"`          // number of waits: a run may wait for the same thing several times
	Taken int      `json:"taken,omitzero"` // worker: how many of the waits are for workers that have the work
	// Workers are the names of workers that ask for the work, at most five; "?" has no name.
	Workers []string  `json:"workers,omitempty"`
	Unasked bool      `json:"unasked,omitzero"` // worker: no worker asks for the work
	Since   time.Time `json:"since,omitzero"`   // when the oldest wait began
	Due     time.Time `json:"due,omitzero"`     // when the first wait ends or times out; zero if none does
	First   []string  `json:"first,omitempty"`  // ids of the oldest runs, at most 20
	// Filter selects the runs of the group, or those in First if no filter can. Package runfilter sets it.
	Filter string `json:"filter,omitempty"`
	// Lacks is, of jobs, what the first of them waits for.
	Lacks WaitKind `json:"lacks,omitempty"`

	last string // id of the run that was counted last
}

// Further kinds of waits, by which [Waiting] groups runs.
const (
	WaitsForEvent  WaitKind = "event"  // the event Name, as the run's language says
	WaitsForParked WaitKind = "parked" // an operator sends messages again, which the runs sent in vain to Name
)

// WaitKinds returns the kinds of groups whose runs have not ended and need no person, the most urgent first.
func WaitKinds() []WaitKind {
	return slices.DeleteFunc(slices.Clone(urgency), func(k WaitKind) bool {
		return slices.Contains([]WaitKind{WaitsForPerson, WaitsForParkedJob, WaitsForClaimer, WaitsForParked}, k)
	})
}

// firstOfGroup is the number of runs that a group names.
const firstOfGroup = 20

// Bounds of the work of [WaitingOf].
const (
	waitingPage    = 200                    // runs that are read at a time
	waitingRuns    = 10_000                 // runs that are looked at without a clock
	waitingRecords = 20_000                 // atoms, tokens or timers of a page of runs
	waitingTime    = 150 * time.Millisecond // time after which no more runs are read, with a clock
	waitingOpen    = 200_000                // runs that are counted
	waitingPlaces  = 200                    // kinds of runs of which the limit is asked
	waitingJobs    = 1000                   // jobs that are looked at, the first that are claimed
)

// A WaitingSearch says how [WaitingOf] looks.
type WaitingSearch struct {
	Now time.Time // time from which it counts
	// Clock returns the time, if WaitingOf looks for a bounded time; nil if it looks at a bounded number of runs.
	Clock func() time.Time
	// Machine returns what a run waits for in the terms of its language; nil if that is nothing, or unknown. If Machine is
	// nil, a run that waits for events is in the group of its flow.
	Machine func(ctx context.Context, run *storage.Run) *grow.Waiting
}

// WaitingOf groups the runs that have not ended by what they wait for, as `ebb why` says it of each. A run that waits
// for one of several things is in each of their groups. WaitingOf looks at the oldest runs first. Errors are the
// store's.
func WaitingOf(ctx context.Context, store backend.Store, s WaitingSearch) (Waiting, error) {
	g := newGrouping(store, s)
	enough := func() bool { return g.Looked >= waitingRuns }
	if s.Clock != nil {
		began := s.Clock()
		enough = func() bool { return s.Clock().Sub(began) > waitingTime }
	}
	if err := g.begin(ctx); err != nil {
		return Waiting{}, err
	}
	q := storage.RunQuery{States: openStates(), Reverse: true, Brief: true, Limit: waitingPage}
	for {
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return Waiting{}, err
		}
		if err := g.add(ctx, runs); err != nil {
			return Waiting{}, err
		}
		if g.Looked += len(runs); len(runs) == 0 {
			break
		}
		if q.After = &runs[len(runs)-1]; enough() {
			g.Least = true
			break
		}
	}
	g.Open = max(g.Open, g.Looked)
	if err := g.queued(ctx); err != nil {
		return Waiting{}, err
	}
	return g.finish(), nil
}

func openStates() (open []states.Flow) {
	for s := range states.FlowResuming + 1 {
		if !s.Ended() {
			open = append(open, s)
		}
	}
	return open
}
