package interpreter

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// surroundings are what surrounds the data of a state that is visited: the run, the
// variables, and the visit itself. Expressions see them as their environment.
type surroundings struct {
	visited

	Machine *syntax.Machine
	Ask     *flow.Ask

	vars    map[string]*data.Value // of this level; nil until they are asked for
	changed bool                   // vars differ from the ask's memory
	Group   *Shared                // what the level's group shares; nil until it is asked for

	// These are nil until they are asked for.
	attrs    *Attributes
	runInput *data.Value
	mapItem  *data.Value
	taking   *takenItem // by a map run, of which the context object tells
	ctx      *jsontext.OrderedMap
	ctxQuery *data.Value // the context object for JSONata
	env      *expression.Queries

	Steps int // that the visit's queries may still take
	drawn int // random numbers drawn when the ask gives none

	// Of a state that is tested alone these are not nil: see package teststate.
	Inspection *Inspection
	Given      *data.Value // the context object
	Read       *data.Value // what an ItemReader has read
}

// visited is the visit of a state that the interpreter is in.
type visited struct {
	State     *syntax.State
	entered   int64 // number of the event that told of entering it
	before    int64 // number of the event that one followed from
	EnteredAt time.Time
	Input     *data.Value // raw
	Tries     []int
	child     *startedExecution // that the task has started; nil when it starts none
	token     string            // of the task's next attempt; "" when it has none
	attempted bool              // the state's node was run
	broken    bool              // the Parallel or Map state has failed, which the history is yet to be told
	brokeAt   int64             // what that event followed from when it was told; 0: it was not
	paused    bool              // the node to come only waits for the state to be begun again
}

func (w *surroundings) StateName() string { return w.State.Name }

func (w *surroundings) StateInput() *data.Value { return w.Input }

func (w *surroundings) Interrupted() bool { return w.Ask.Done() }

func (w *surroundings) PathFailure() string { return w.Rules().PathFailure }

func (w *surroundings) Rules() *syntax.Rules { return w.Machine.Profile.Rules() }

func (w *surroundings) Queries() *expression.Queries {
	if w.env == nil {
		w.env = expression.NewQueries(w, jsonata.Environment{Now: w.Ask.Now, Random: w.Random, Steps: &w.Steps, Interrupted: w.Ask.Interrupted})
	}
	return w.env
}

// Random returns random bits. An undo, which is given none, takes them from what
// it undoes, so that asked twice it answers the same.
func (w *surroundings) Random() uint64 {
	if w.Ask.Random != nil {
		return w.Ask.Random()
	}
	h := fnv.New64a()
	w.drawn++
	_, _ = fmt.Fprintf(h, "%s/%s/%d", w.Ask.Run.ID, w.Ask.Path, w.drawn) // a hash takes everything
	return h.Sum64()
}

// shared returns what the group tells its levels. It is read once for all of them:
// a Map of n items that each read all items would take n² steps.
func (w *surroundings) shared() (*Shared, error) {
	memo := w.Ask.Memo
	if memo != nil {
		if s, ok := (*memo).(*Shared); ok {
			return s, nil
		}
	}
	s, err := readShared(w.Ask.Shared)
	if err == nil && memo != nil {
		*memo = s
	}
	return s, err
}

// A Stage is a step of the way of a state's data.
type Stage uint8

// The stages.
const (
	AfterInputPath Stage = iota
	AfterParameters
	AfterItemsPath
	AfterItemSelector
	WorkResult
	AfterResultSelector
	AfterResultPath
	Stages
)

// An Inspection is what an interpreter notes of a state that is tested.
type Inspection struct {
	Data                [Stages]*data.Value
	Concurrency         *int
	ToleratedCount      *int
	ToleratedPercentage *float64
}

// Inspected notes what the data is at a stage, if the state is tested.
func (w *surroundings) Inspected(at Stage, d *data.Value) {
	if w.Inspection != nil {
		w.Inspection.Data[at] = d
	}
}
