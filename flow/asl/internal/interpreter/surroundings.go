package interpreter

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// surroundings contains the data around the visit of a state: the run, the variables, and the visit itself.
// Expressions see it as their environment.
type surroundings struct {
	visited

	Machine *syntax.Machine
	Ask     *grow.Ask

	vars    map[string]*data.Value // variables of this level; nil until they are read
	changed bool                   // vars differ from the memory in the question
	Group   *Shared                // data that the level's group shares; nil until it is read

	// The following fields are nil until they are needed.
	attrs    *Attributes
	runInput *data.Value
	mapItem  *data.Value
	taking   *takenItem // the item that a map run is taking, for the context object
	ctx      *jsontext.OrderedMap
	ctxQuery *data.Value // the context object for JSONata
	env      *expression.Queries

	Steps int // number of steps that the visit's expressions may still take
	drawn int // number of random numbers drawn if the question provides none

	// The following fields are set if a state is tested alone, see package teststate.
	Inspection *Inspection
	Given      *data.Value          // the context object
	parts      *jsontext.OrderedMap // its members, each a *data.Value, if it is the context object of one item of many
	Read       *data.Value          // data that an ItemReader has read
}

// visited is the visit of a state.
type visited struct {
	State     *syntax.State
	entered   int64 // number of the event for entering the state
	before    int64 // number of the event from which that event followed
	EnteredAt time.Time
	Input     *data.Value // raw input
	Tries     []int
	child     *startedExecution // execution that the task started
	token     string            // token of the task's next attempt; "" if it has none
	attempted bool              // the state's node has run
	broken    bool              // the Parallel or Map state has failed, and the history does not contain that yet
	brokeAt   int64             // number of the event from which that failure followed; 0: not written
	paused    bool              // the next node only waits until the state starts again

	used       int       // number of nodes that the visit had before it was redriven
	redrives   int       // number of the execution's redrive that started the visit again; 0: none
	nodeFailed bool      // the failure of the state's node is being handled
	passing    *progress // progress through the state's levels, while they are passed through
	nothing    bool      // the note of the state's node does not contain the raw input
}

// StateName returns the name of the current state.
func (w *surroundings) StateName() string { return w.State.Name }

// StateInput returns the raw input of the state.
func (w *surroundings) StateInput() *data.Value { return w.Input }

// Interrupted reports whether the engine no longer needs the answer.
func (w *surroundings) Interrupted() bool { return w.Ask.Done() }

// Spend counts steps of the visit to the state, and returns false if none remain.
func (w *surroundings) Spend(steps int) bool {
	w.Steps -= steps
	return w.Steps >= 0
}

// PathFailure returns the name of the error for a path in a payload template that names no value.
func (w *surroundings) PathFailure() string { return w.Rules().PathFailure }

// Rules returns what the edition of the language prescribes.
func (w *surroundings) Rules() *syntax.Rules { return w.Machine.Profile.Rules() }

// Queries returns where queries of this visit are evaluated.
func (w *surroundings) Queries() *expression.Queries {
	if w.env == nil {
		w.env = expression.NewQueries(w, jsonata.Environment{
			Now: w.Ask.Now, Random: w.Random, Steps: &w.Steps,
			Interrupted: w.Ask.Interrupted,
		})
	}
	return w.env
}

// Random returns random bits. An undo has no random bits of its own. It derives them from what it undoes, so that it
// returns the same answer if it is asked twice.
func (w *surroundings) Random() uint64 {
	if w.Ask.Random != nil {
		return w.Ask.Random()
	}
	h := fnv.New64a()
	w.drawn++
	_, _ = fmt.Fprintf(h, "%s/%s/%d", w.Ask.Run.ID, w.Ask.Path, w.drawn) // writing to a hash cannot fail
	return h.Sum64()
}

// shared returns the data that the group shares. It is decoded once for all levels: otherwise a Map of n items
// would need n² steps.
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

// A Stage is a stage of the processing of a state's data.
type Stage uint8

// The stages.
const (
	AfterInputPath Stage = iota
	AfterParameters
	AfterItemsPath
	AfterItemsPointer
	AfterItemSelector
	AfterItemBatcher
	WorkResult
	AfterResultSelector
	AfterResultPath
	Stages
)

// An Inspection records the data of a tested state at each stage.
type Inspection struct {
	Data                [Stages]*data.Value
	Concurrency         *int
	ToleratedCount      *int64
	ToleratedPercentage *float64
}

// Inspected records the data at a stage, if the state is being tested.
func (w *surroundings) Inspected(at Stage, d *data.Value) {
	if w.Inspection != nil {
		w.Inspection.Data[at] = d
	}
}
