package sm4c

import (
	"strings"
	"time"
)

// An action is one compiled action.
type action struct {
	number   int
	kind     actionType
	name     string // of its node in the flow that it is in
	key      string // under which its parent finds its result
	title    string // for messages: its name, or where it stands
	repeats  bool   // may have more than one node in a run of its flow
	parent   *action
	handlers []*handler

	span       time.Duration // delay: how long; calls: how long is waited, with timed
	timed      bool
	expression *expression      // injectData, sendEvent (nil: none), foreach: its input
	children   []*action        // sequence, parallel; foreach: one
	completion completion       // parallel
	need       int              // parallel
	slots      int              // foreach
	function   *function        // invokeFunction
	subflow    string           // invokeSubflow
	arguments  *template        // calls; nil: none
	waits      bool             // calls
	revert     *revert          // calls; nil: what they did stays
	event      *event           // sendEvent
	attributes []templateMember // sendEvent
}

// forks reports whether the action runs its children in flows of their own.
func (a *action) forks() bool { return a.kind == parallelAction || a.kind == foreachAction }

// calls reports whether the action calls something that takes time.
func (a *action) calls() bool { return a.kind == invokeFunction || a.kind == invokeSubflow }

// A handler is one error handler.
type handler struct {
	condition *expression // nil: any error
	result    *expression // nil: none
	retry     *retry      // nil: the action's result is null
}

// A revert says how a call is undone.
type revert struct {
	pivot     bool      // not at all, and neither what ended before it
	function  *function // nil for a subflow: its run is undone
	arguments *template // nil: it is given a report of the call
}

// task returns what the registry of tasks knows a function by.
func (f *function) task() string {
	if f.kind == restFunction {
		return RestScheme + f.operation
	}
	return f.operation
}

// RestScheme begins the names of tasks that are calls of REST functions; behind
// it stands the URI of the OpenAPI document, # and the operationId.
const RestScheme = "openapi:"

// segment makes a part of a node's name: names are escaped as in JSON pointers,
// for they become parts of paths.
var segment = strings.NewReplacer("~", "~0", "/", "~1")
