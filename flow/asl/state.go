package asl

import (
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A state is one compiled state.
type state struct {
	name     string
	kind     stateKind
	language queryLanguage
	level    *level
	repeats  bool // its visits are counted: there can be more than one in a run of its level, or a catcher goes back to it

	ends      bool
	inputPath dataPath
	arguments payload    // Parameters or Arguments; nil: the input as it is
	out       transition // by Next; of a Choice by Default

	retry  []*retrier
	catch  []*catcher
	revert *revert

	result   *jsonValue // Pass
	task     *task      // Task
	choices  []*rule    // Choice
	wait     *wait      // Wait
	failure  *failing   // Fail
	branches []*level   // Parallel
	items    *iterated  // Map
	atOnce   bool       // Parallel, Map: their levels are gone through in one answer
}

type stateKind uint8

const (
	passState stateKind = iota
	taskState
	choiceState
	waitState
	succeedState
	failState
	parallelState
	mapState
)

var kindNames = [...]string{
	passState: "Pass", taskState: "Task", choiceState: "Choice", waitState: "Wait",
	succeedState: "Succeed", failState: "Fail", parallelState: "Parallel", mapState: "Map",
}

// String returns the kind's name in definitions and events.
func (k stateKind) String() string { return kindNames[k] }

// task is what only a Task state has.
type task struct {
	resource

	timeout     amount // in seconds; 0 for none
	heartbeat   amount
	credentials payload
	machine     string // name of the machine that it starts an execution of, if the definition says it
}

// wait is what only a Wait state has: exactly one of its fields counts.
type wait struct {
	seconds   amount
	timestamp timestamp
}

// A timestamp is a point in time: fixed, or found in the state's data.
type timestamp struct {
	at    time.Time
	path  *jsonpath.Path
	query *query
}

// failing is what only a Fail state has.
type failing struct{ err, cause message }

// A message is a text of a Fail state: fixed, or given by something. There may be neither.
type message struct {
	text  *string
	given expression
}

// successors returns the states that may follow.
func (s *state) successors() []*state {
	var out []*state
	add := func(next *state) {
		if next != nil {
			out = append(out, next)
		}
	}
	add(s.out.next)
	for i := range s.choices {
		add(s.choices[i].out.next)
	}
	for i := range s.catch {
		add(s.catch[i].out.next)
	}
	return out
}
