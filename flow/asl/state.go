package asl

import (
	"time"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

// A state is one compiled state.
type state struct {
	name    string
	kind    stateKind
	level   *level
	source  *node
	repeats bool // can be visited more than once in a run of its level
	broken  bool // has no known type, or is not supported: nothing more is to be said about it

	next *state // nil when the state ends its level, or has no Next
	ends bool

	inputPath, outputPath dataPath
	parameters            *template // nil: the input as it is
	resultSelector        *template // nil: the result as it is
	resultPath            resultPath
	assign                *template // nil: none

	retry  []retrier
	catch  []catcher
	revert *revert

	result   *datum    // Pass
	task     *task     // Task
	choices  []rule    // Choice
	fallback *state    // Choice: Default
	wait     *wait     // Wait
	failure  *failing  // Fail
	branches []*level  // Parallel
	items    *iterated // Map
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
	resource    string
	at          int    // where the resource stands in the text
	lambda      bool   // the resource is a Lambda function's ARN
	activity    bool   // the resource is an activity's ARN
	service     string // of the resource, as AWS's events call it: resourceType
	action      string // resource, in events that have a resourceType
	timeout     seconds
	heartbeat   seconds
	credentials *template
}

// seconds is a length of time, fixed or read from the state's data.
type seconds struct {
	fixed int64          // 0: none
	path  *jsonpath.Path // nil: fixed
}

// wait is what only a Wait state has: exactly one of its fields counts.
type wait struct {
	seconds       int64
	secondsPath   *jsonpath.Path
	until         time.Time
	timestampPath *jsonpath.Path
}

// failing is what only a Fail state has.
type failing struct {
	err, cause         *string // nil: none
	errPath, causePath expression
}

// successors returns the states that may follow.
func (s *state) successors() []*state {
	out := []*state{s.next, s.fallback}
	for i := range s.choices {
		out = append(out, s.choices[i].next)
	}
	for i := range s.catch {
		out = append(out, s.catch[i].next)
	}
	return out
}

// compileState reads one state. Everything it could not make sense of has been
// reported when it returns.
func (c *compiler) compileState(s *state) {
	where := c.where
	c.where = "state " + quote(s.name) + ": "
	defer func() { c.where = where }()

	n := s.source
	if !c.kind(s) || c.queryLanguage(n) != jsonPath {
		s.broken = true
		c.transition(s)
		return
	}
	c.fields(n, "a "+s.kind.String()+" state", fieldsOf[s.kind])
	if s.kind != choiceState && s.kind != succeedState && s.kind != failState {
		c.transition(s)
	}
	c.data(s)
	switch s.kind {
	case passState:
		c.pass(s)
	case taskState:
		c.task(s)
	case choiceState:
		c.choice(s)
	case waitState:
		c.wait(s)
	case succeedState:
		s.ends = true
	case failState:
		s.ends = true
		c.failing(s)
	case parallelState:
		c.parallel(s)
	case mapState:
		c.iterated(s)
	}
	if s.kind == taskState || s.kind == parallelState || s.kind == mapState {
		c.retriers(s)
		c.catchers(s)
	}
}

// kind reads the state's Type.
func (c *compiler) kind(s *state) bool {
	n := s.source.get("Type")
	if n == nil {
		c.schemaf(s.source, "these fields are required: Type")
		return false
	}
	for kind, name := range kindNames {
		if n.kind == stringNode && n.str == name {
			s.kind = stateKind(kind)
			return true
		}
	}
	fix := ""
	if near := nearest(n.str, kindNames[:]); near != "" {
		fix = "did you mean " + quote(near) + "?"
	}
	c.refusef(SchemaValidationFailed, n, fix, "Type must be one of Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map")
	return false
}

// transition reads Next and End, of which a state that goes on has one.
func (c *compiler) transition(s *state) {
	next, end := s.source.get("Next"), s.source.get("End")
	if end != nil && end.kind != boolNode {
		c.schemaf(end, "End must be true or false, found %s", end.kind)
		end = nil
	}
	switch s.ends = end.isTrue(); {
	case next != nil && s.ends:
		c.schemaf(next, "a state that ends the machine has no Next")
	case next != nil:
		s.next = c.target(s.level, next)
	case !s.ends && !s.broken:
		c.schemaf(s.source, `one of Next and "End": true must be there`)
	}
}

// data reads the fields that shape a state's input and output.
func (c *compiler) data(s *state) {
	n := s.source
	s.inputPath = c.dataPath(n, "InputPath")
	s.outputPath = c.dataPath(n, "OutputPath")
	s.resultPath = c.resultPath(n)
	s.parameters = c.template(n.get("Parameters"))
	s.resultSelector = c.template(n.get("ResultSelector"))
	s.assign = c.assign(s.level, n.get("Assign"))
}

func (c *compiler) pass(s *state) {
	result := s.source.get("Result")
	if result == nil {
		return
	}
	s.result = constant(result.tree())
	if n := result.dynamicField(); n != nil {
		c.warnf(PassResultIsStatic, n, "use Parameters for what is to be evaluated", "Result is taken as it stands; %s is not evaluated", quote(n.key))
	}
}

func (c *compiler) wait(s *state) {
	s.wait = &wait{}
	n := c.one(s.source, "Seconds", "SecondsPath", "Timestamp", "TimestampPath")
	if n == nil {
		c.schemaf(s.source, "one of Seconds, SecondsPath, Timestamp, TimestampPath must be there")
		return
	}
	switch n.key {
	case "Seconds":
		s.wait.seconds, _ = c.seconds(s.source, "Seconds", 0)
	case "SecondsPath", "TimestampPath":
		path := c.referencePath(n)
		if n.key == "SecondsPath" {
			s.wait.secondsPath = path
		} else {
			s.wait.timestampPath = path
		}
	default:
		at, ok := parseTimestamp(n.str)
		if n.kind != stringNode || !ok {
			c.refusef(SchemaValidationFailed, n, `such as "2026-01-31T12:00:00Z"`, "Timestamp does not match RFC3339 timestamp")
		}
		s.wait.until = at
	}
}

func (c *compiler) failing(s *state) {
	s.failure = &failing{}
	for _, field := range []struct {
		name  string
		fixed **string
		path  *expression
	}{
		{"Error", &s.failure.err, &s.failure.errPath},
		{"Cause", &s.failure.cause, &s.failure.causePath},
	} {
		n := c.one(s.source, field.name, field.name+"Path")
		if n == nil {
			continue
		}
		text, ok := c.text(s.source, n.key)
		if !ok {
			continue
		}
		if n.key == field.name {
			*field.fixed = &text
		} else {
			*field.path = c.expression(n, text)
		}
	}
}

func (c *compiler) parallel(s *state) {
	list := s.source.get("Branches")
	switch {
	case list == nil:
		c.schemaf(s.source, "these fields are required: Branches")
		return
	case list.kind != arrayNode || len(list.items) == 0:
		c.schemaf(list, "Branches must be an array of at least one machine")
		return
	}
	for _, branch := range list.items {
		if branch.kind != objectNode {
			c.schemaf(branch, "a branch must be an object with StartAt and States, found %s", branch.kind)
			continue
		}
		c.fields(branch, "a branch", branchFields)
		s.branches = append(s.branches, c.level(branch, s, s.level))
	}
}
