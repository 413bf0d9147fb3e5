package syntax

import (
	"time"
)

// An Action is one compiled action.
type Action struct {
	Number   int
	Kind     ActionType
	Name     string // name of its node in its flow
	Key      string // key under which its parent finds its result
	Title    string // name for messages: its own, or its position
	Repeats  bool   // may have more than one node in a run of its flow
	Parent   *Action
	Handlers []*Handler

	Span       time.Duration // of a delay: its length; of a call with timed: how long to wait
	Timed      bool
	Expression *Expression      // of injectData, sendEvent (nil: none) and foreach: its input
	Children   []*Action        // of sequence and parallel; of foreach: one
	Completion Completion       // of parallel
	Need       int              // of parallel
	Slots      int              // of foreach
	Function   *Function        // of invokeFunction
	Subflow    string           // of invokeSubflow
	Arguments  *Template        // of calls; nil: none
	Waits      bool             // of calls
	Revert     *Revert          // of calls; nil: the call is not undone
	Event      *Event           // of sendEvent
	Attributes []TemplateMember // of sendEvent
}

// Forks reports whether the action runs its children in flows of their own.
func (a *Action) Forks() bool { return a.Kind == ParallelAction || a.Kind == ForeachAction }

// Path returns the path of the action's node in a run, without the numbers of children and of visits.
func (a *Action) Path() string {
	for p := a.Parent; p != nil; p = p.Parent {
		if p.Forks() {
			return p.Path() + "/" + a.Name
		}
	}
	return a.Name
}

// Calls reports whether the action calls a function or subflow, which takes time.
func (a *Action) Calls() bool { return a.Kind == InvokeFunction || a.Kind == InvokeSubflow }

// A Handler is one error handler.
type Handler struct {
	At        int         // where it stands in the definition; -1 if it was loaded
	Condition *Expression // nil: matches any error
	Result    *Expression // nil: none
	Retry     *Retry      // nil: the action's result is null
}

// A Revert describes how a call is undone.
type Revert struct {
	Pivot     bool      // neither this call nor any that ended before it is undone
	None      bool      // the call has no effect, so there is nothing to undo
	Function  *Function // nil for a subflow, whose run is undone
	Arguments *Template // nil: the function receives a report of the call
}

// Reverts reports whether something undoes the call.
func (r *Revert) Reverts() bool { return r != nil && !r.Pivot && !r.None }

// Task returns the name of a function in the registry of tasks.
func (f *Function) Task() string {
	switch f.Kind {
	case RESTFunction:
		return restScheme + f.Operation
	case RPCFunction:
		return rpcScheme + f.Operation
	default:
		return f.Operation
	}
}

// Schemes begin the names of tasks that are calls. Behind restScheme stand the URI of an OpenAPI document, # and an
// operationId; behind rpcScheme the URI of a schema, # and the full name of a service, # and a method.
const (
	restScheme = "openapi:"
	rpcScheme  = "grpc:"
)

// Repeat marks an action and the actions in its flow.
func (a *Action) Repeat() {
	a.Repeats = true
	if a.Forks() {
		return
	}
	for _, child := range a.Children {
		child.Repeat()
	}
}

// ActionType is the type of an action.
type ActionType uint8

// The types of actions.
const (
	DelayAction ActionType = iota
	InjectData
	SequenceAction
	ParallelAction
	ForeachAction
	InvokeFunction
	InvokeSubflow
	SendEvent
)

// String returns the type as definitions spell it.
func (t ActionType) String() string { return ActionNames[t] }

// ActionNames are the types of actions as definitions have them.
var ActionNames = [...]string{
	DelayAction: "delay", InjectData: "injectData", SequenceAction: "sequence", ParallelAction: "parallel",
	ForeachAction: "foreach", InvokeFunction: "invokeFunction", InvokeSubflow: "invokeSubflow", SendEvent: "sendEvent",
}

// Completion determines when a parallel action has ended.
type Completion uint8

// The types of completion.
const (
	CompleteAll Completion = iota
	CompleteFirst
	CompleteSome
)

// FunctionType is the type of a function.
type FunctionType uint8

// The types of functions.
const (
	RESTFunction FunctionType = iota
	ExpressionFunction
	RPCFunction
	TaskFunction
)

// String returns the type as definitions spell it.
func (t FunctionType) String() string { return FunctionNames[t] }

// FunctionNames are the types of functions as definitions have them.
var FunctionNames = [...]string{
	RESTFunction: "rest", ExpressionFunction: "expression", RPCFunction: "rpc", TaskFunction: "task",
}
