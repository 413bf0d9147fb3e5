package syntax

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// An Amount is a number in a state, usually an integer. It is fixed, or computed from the state's data.
type Amount struct {
	Said   bool // the state has the number
	Fixed  int64
	Number float64 // fixed value of a number that need not be an integer
	Query  *expression.Query
	Path   *jsonpath.Path
	Field  string // name of the field with the path
}

// A Rule is one entry of a Choice state's Choices.
type Rule struct {
	At   int // where it stands in the definition
	Test expression.Test
	Out  Transition
	Text string // the condition as a picture shows it
}

// A QueryLanguage is one of the two languages with which states process data.
type QueryLanguage uint8

// The query languages.
const (
	JSONPath QueryLanguage = 1 << iota
	JSONata
	Both = JSONPath | JSONata
)

func (q QueryLanguage) String() string {
	if q == JSONata {
		return "JSONata"
	}
	return "JSONPath"
}

// A State is one compiled state.
type State struct {
	Name     string
	At       int // where its name stands in the definition
	Default  int // where the Default of a Choice stands
	Kind     Kind
	Language QueryLanguage
	Reads    []string // variables that the state reads, each once
	Repeats  bool     // its visits are counted: a run of its level can have several, or a catcher goes back to it

	Ends      bool
	InputPath expression.DataPath
	Arguments expression.Payload // Parameters or Arguments; nil: the input as it is
	Out       Transition         // the transition by Next or, of a Choice, by Default

	Retry  []*Retrier
	Catch  []*Catcher
	Revert *Revert

	Result   *data.Value // Pass
	Task     *Task       // Task
	Choices  []*Rule     // Choice
	Wait     *Wait       // Wait
	Failure  *Fail       // Fail
	Branches []*Level    // Parallel
	Items    *Map        // Map
	AtOnce   bool        // Parallel, Map: one answer passes through all levels
}

// A Kind is the type of a state.
type Kind uint8

// The kinds.
const (
	PassState Kind = iota
	TaskState
	ChoiceState
	WaitState
	SucceedState
	FailState
	ParallelState
	MapState
)

// KindNames are the names of the kinds in definitions.
var KindNames = [...]string{
	PassState: "Pass", TaskState: "Task", ChoiceState: "Choice", WaitState: "Wait",
	SucceedState: "Succeed", FailState: "Fail", ParallelState: "Parallel", MapState: "Map",
}

// String returns the kind's name in definitions and events.
func (k Kind) String() string { return KindNames[k] }

// Task has the fields that only a Task state has.
type Task struct {
	Resource

	Timeout     Amount // in seconds; 0 for none
	Heartbeat   Amount
	Credentials expression.Payload
	Machine     string // name of the machine that it starts an execution of, if the definition says it
}

// Wait has the fields that only a Wait state has. Exactly one of them counts.
type Wait struct {
	Seconds   Amount
	Timestamp Timestamp
}

// A Timestamp is a point in time: fixed, or found in the state's data.
type Timestamp struct {
	At    time.Time
	Path  *jsonpath.Path
	Query *expression.Query
}

// Fail has the fields that only a Fail state has.
type Fail struct{ Err, Cause Message }

// A Message is a text of a Fail state: fixed, or computed. It may be missing.
type Message struct {
	Text  *string
	Given expression.Dynamic
}

// successors returns the states that may follow.
func (s *State) successors() []*State {
	out := s.Follows()
	for i := range s.Catch {
		if next := s.Catch[i].Out.Next; next != nil {
			out = append(out, next)
		}
	}
	return out
}

// Follows returns the states that may follow when nothing was caught.
func (s *State) Follows() []*State {
	var out []*State
	if s.Out.Next != nil {
		out = append(out, s.Out.Next)
	}
	for i := range s.Choices {
		if next := s.Choices[i].Out.Next; next != nil {
			out = append(out, next)
		}
	}
	return out
}

// The largest numbers that definitions may contain.
const (
	MaxSeconds = 99_999_999
	MaxItems   = 100_000_000
)

// A Transition leads out of a state: by Next, a rule, Default or a catcher. It determines the output, the variables
// that are set, and the next state.
type Transition struct {
	Next       *State              // nil: the level ends
	As         string              // how queries name the value of the transition: result, errorOutput or neither
	Output     expression.Payload  // Output; nil: the value of the transition
	Selector   expression.Payload  // ResultSelector; nil: the result as it is
	ResultPath expression.DataPath // nil path: the result replaces the input; none: it is dropped
	OutputPath expression.DataPath
	Assign     []Variable
}

// NeedsInput reports whether the transition reads the state's raw input.
func (o *Transition) NeedsInput() bool {
	if o.ResultPath.Path != nil || o.ResultPath.None || expression.LooksAt(o.Output, expression.UsesInput) {
		return true
	}
	return slices.ContainsFunc(o.Assign,
		func(v Variable) bool { return expression.LooksAt(v.Value, expression.UsesInput) })
}

// A Variable is a variable that an Assign sets.
type Variable struct {
	Name  string
	Value expression.Payload
}
