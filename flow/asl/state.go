package asl

import (
	"cmp"
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A state is one compiled state.
type state struct {
	name     string
	kind     stateKind
	language queryLanguage
	level    *level
	source   *node
	repeats  bool // its visits are counted: there can be more than one in a run of its level, or a catcher goes back to it

	ends      bool
	inputPath dataPath
	arguments payload    // Parameters or Arguments; nil: the input as it is
	out       transition // by Next; of a Choice by Default

	retry  []retrier
	catch  []catcher
	revert *revert

	result   *jsonValue // Pass
	task     *task      // Task
	choices  []rule     // Choice
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
}

// wait is what only a Wait state has: exactly one of its fields counts.
type wait struct {
	seconds        int64
	secondsPath    *jsonpath.Path
	secondsQuery   *query
	until          time.Time
	timestampPath  *jsonpath.Path
	timestampQuery *query
}

// failing is what only a Fail state has.
type failing struct {
	err, cause         *string // nil: none
	errPath, causePath expression
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

// state compiles one state.
func (c *compiler) state(s *state) {
	n := s.source
	is := jsontext.Meaning[stateMeaning](n)
	s.kind, s.language = is.kind, is.language
	s.ends = n.Get("End").IsTrue() || s.kind == succeedState || s.kind == failState
	s.inputPath = dataPathOf(n, "InputPath")
	s.arguments = s.payload(cmp.Or(n.Get("Parameters"), n.Get("Arguments")))
	s.out = s.transition(n, "Next")
	s.out.selector = s.payload(n.Get("ResultSelector"))
	s.out.outputPath = dataPathOf(n, "OutputPath")
	switch s.kind {
	case passState:
		if result := n.Get("Result"); result != nil {
			s.result = constant(treeOf(result))
		}
	case taskState:
		s.out.as = "result"
		s.task, s.revert = c.task(s), s.revertOf(n.Get("Revert"))
	case choiceState:
		s.out.next = s.level.target(n, "Default")
		s.choices = s.rules()
	case waitState:
		s.wait = waitOf(n)
	case failState:
		s.failure = failingOf(n)
	case parallelState:
		s.out.as = "result"
		for _, branch := range n.Get("Branches").Items {
			s.branches = append(s.branches, c.level(branch, s))
		}
		s.atOnce = s.instant()
	case mapState:
		s.out.as = "result"
		c.iterated(s)
		s.atOnce = s.instant()
	case succeedState:
	}
	s.retry, s.catch = retriersOf(n), s.catchers()
}

func waitOf(n *node) *wait {
	return &wait{
		seconds:        jsontext.Meaning[int64](n.Get("Seconds")),
		secondsPath:    jsontext.Meaning[*jsonpath.Path](n.Get("SecondsPath")),
		secondsQuery:   queryOf(n.Get("Seconds")),
		until:          jsontext.Meaning[time.Time](n.Get("Timestamp")),
		timestampPath:  jsontext.Meaning[*jsonpath.Path](n.Get("TimestampPath")),
		timestampQuery: queryOf(n.Get("Timestamp")),
	}
}

func failingOf(n *node) *failing {
	f := &failing{}
	f.err, f.errPath = messageOf(n, "Error")
	f.cause, f.causePath = messageOf(n, "Cause")
	return f
}

// messageOf returns a text of a Fail state, or what gives it.
func messageOf(n *node, field string) (*string, expression) {
	v := n.Get(field)
	if v == nil {
		return nil, jsontext.Meaning[expression](n.Get(field + "Path"))
	}
	if q := queryOf(v); q != nil {
		return nil, textQuery{q}
	}
	return &v.Str, nil
}
