package check

import (
	"time"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
)

// The objects of the language and their attributes.

// named returns the attributes of an object whose name nothing refers to.
func named[T any]() attributes[T] {
	return attributes[T]{"name": checked[T, string](nameRule{}), "description": checked[T, string](textRule{})}
}

var machineObject = &objectRule[syntax.Machine]{
	name: "machine", what: "a state machine",
	attributes: named[syntax.Machine]().with(attributes[syntax.Machine]{
		"name":    at(func(m *syntax.Machine) *string { return &m.Title }).is(nameRule{}),
		"id":      checked[syntax.Machine, struct{}](anyRule{}),
		"version": at(func(m *syntax.Machine) *string { return &m.Version }).is(textRule{}),
		"timeout": at(timeoutOf).is(executionTimeoutObject), "execTimeout": at(timeoutOf).is(executionTimeoutObject),
		"events":      checked[syntax.Machine, struct{}](collectionRule{eventObject}),
		"functions":   checked[syntax.Machine, struct{}](collectionRule{functionObject}),
		"retries":     checked[syntax.Machine, struct{}](collectionRule{retryObject}),
		"states":      checked[syntax.Machine, []*syntax.State](listRule[*syntax.State]{of: stateRule{}, least: 1}),
		"resources":   checked[syntax.Machine, struct{}](documentsRule{}),
		"waitDefault": checked[syntax.Machine, bool](boolRule{}),
	}),
	required: []string{"name", "version", "states"},
	also:     []func(*checker, *node, *syntax.Machine){checkStart, checkMachine},
}

func timeoutOf(m *syntax.Machine) **syntax.ExecutionTimeout { return &m.Timeout }

var executionTimeoutObject = &objectRule[syntax.ExecutionTimeout]{
	name: "executionTimeout", what: "the timeout of a machine",
	attributes: attributes[syntax.ExecutionTimeout]{
		"duration": at(func(t *syntax.ExecutionTimeout) *time.Duration { return &t.After }).is(timespanRule{}),
		"action":   at(func(t *syntax.ExecutionTimeout) **syntax.Action { return &t.Action }).is(actionRule{}),
	},
	required: []string{"duration"},
}

// Definitions other than states.
var (
	eventObject = &objectRule[syntax.Event]{
		name: "event", what: "the definition of an event",
		attributes: named[syntax.Event]().with(attributes[syntax.Event]{
			"name":   at(func(e *syntax.Event) *string { return &e.Name }).is(nameRule{}),
			"type":   at(func(e *syntax.Event) *string { return &e.Typ }).is(nameRule{}),
			"source": at(func(e *syntax.Event) *string { return &e.Source }).is(nameRule{}),
			"correlation": at(func(e *syntax.Event) *[]*syntax.Correlation { return &e.Correlation }).is(
				listRule[*syntax.Correlation]{of: correlationObject}),
			"kind": checked[syntax.Event, struct{}](anyRule{}),
		}),
		required: []string{"name"},
	}
	correlationObject = &objectRule[syntax.Correlation]{
		name: "correlation", what: "an entry of correlation",
		attributes: attributes[syntax.Correlation]{
			"contextAttributeName": at(func(k *syntax.Correlation) *string { return &k.Attribute }).is(nameRule{}),
			"contextAttributeValue": at(func(k *syntax.Correlation) **syntax.Template { return &k.Value }).is(
				templateTextRule{}),
		},
		required: []string{"contextAttributeName"},
	}
	functionObject = &objectRule[syntax.Function]{
		name: "function", what: "the definition of a function",
		attributes: named[syntax.Function]().with(attributes[syntax.Function]{
			"name":      at(func(f *syntax.Function) *string { return &f.Name }).is(nameRule{}),
			"type":      at(func(f *syntax.Function) *syntax.FunctionType { return &f.Kind }).is(functionTypes),
			"operation": at(func(f *syntax.Function) *string { return &f.Operation }).is(nameRule{}),
		}),
		required: []string{"name", "operation"},
		also:     []func(*checker, *node, *syntax.Function){checkFunction},
	}
	retryObject = &objectRule[syntax.Retry]{
		name: "retry", what: "a retry policy",
		attributes: named[syntax.Retry]().with(attributes[syntax.Retry]{
			"maxAttempts": at(func(r *syntax.Retry) *int { return &r.Times }).is(wholeRule{0}),
			"delay":       at(func(r *syntax.Retry) *time.Duration { return &r.Delay }).is(timespanRule{}),
			"maxDelay":    at(func(r *syntax.Retry) *time.Duration { return &r.Most }).is(timespanRule{}),
			"increment":   at(func(r *syntax.Retry) *time.Duration { return &r.Increment }).is(timespanRule{}),
			"multiplier":  at(func(r *syntax.Retry) *float64 { return &r.Multiplier }).is(factorRule{}),
			"jitter":      at(func(r *syntax.Retry) *syntax.Jitter { return &r.Jitter }).is(jitterRule{}),
		}),
		required: []string{"name", "maxAttempts"},
		also:     []func(*checker, *node, *syntax.Retry){checkBackoff},
	}
)

// States.
var (
	stateObject = &objectRule[syntax.State]{
		name: "state", what: "a state",
		attributes: named[syntax.State]().with(attributes[syntax.State]{
			"name":  at(func(s *syntax.State) *string { return &s.Name }).is(nameRule{}),
			"start": checked[syntax.State, bool](boolRule{}),
			"transitions": at(func(s *syntax.State) *[]*syntax.Transition { return &s.Transitions }).is(
				listRule[*syntax.Transition]{of: transitionObject}),
			"inputFilter": at(func(s *syntax.State) **syntax.Expression { return &s.Filter }).is(plainExpression),
			"enterAction": at(func(s *syntax.State) **syntax.Action { return &s.Enter.Action }).is(actionRule{}),
			"enterResultHandler": at(func(s *syntax.State) **syntax.Expression { return &s.Enter.Handler }).is(
				handlerExpression),
			"exitAction":        at(func(s *syntax.State) **syntax.Action { return &s.Exit.Action }).is(actionRule{}),
			"exitResultHandler": at(func(s *syntax.State) **syntax.Expression { return &s.Exit.Handler }).is(handlerExpression),
		}),
		required: []string{"name"},
		also: []func(*checker, *node, *syntax.State){
			checkTransitions, handled[syntax.State]("enterAction", "enterResultHandler"),
			handled[syntax.State]("exitAction", "exitResultHandler"),
		},
	}
	transitionObject = &objectRule[syntax.Transition]{
		name: "transition", what: "a transition",
		attributes: named[syntax.Transition]().with(attributes[syntax.Transition]{
			"nextState": at(func(t *syntax.Transition) **syntax.State { return &t.Next }).is(
				referenceRule[syntax.State]{statesOf}),
			"condition": at(func(t *syntax.Transition) **syntax.Expression { return &t.Condition }).is(plainExpression),
			"eventGroups": at(func(t *syntax.Transition) *[]*syntax.Group { return &t.Groups }).is(
				listRule[*syntax.Group]{of: groupObject}),
			"timeout": at(func(t *syntax.Transition) *time.Duration { return &t.Timeout }).is(timespanRule{}),
			"action":  at(func(t *syntax.Transition) **syntax.Action { return &t.Effect.Action }).is(actionRule{}),
			"resultHandler": at(func(t *syntax.Transition) **syntax.Expression { return &t.Effect.Handler }).is(
				handlerExpression),
		}),
		also: []func(*checker, *node, *syntax.Transition){
			handled[syntax.Transition]("action", "resultHandler"),
			describeTransition,
		},
	}
	groupObject = &objectRule[syntax.Group]{
		name: "eventGroup", what: "an event group",
		attributes: attributes[syntax.Group]{
			"events": at(func(g *syntax.Group) *[]*syntax.Event { return &g.Events }).is(
				listRule[*syntax.Event]{of: referenceRule[syntax.Event]{eventsOf}, least: 1}),
			"condition":     at(func(g *syntax.Group) **syntax.Expression { return &g.Condition }).is(aboutExpression),
			"resultHandler": at(func(g *syntax.Group) **syntax.Expression { return &g.Handler }).is(handlerExpression),
		},
		required: []string{"events"},
	}
)

// actionForms are the rules for actions, by type.
var actionForms = [...]*objectRule[syntax.Action]{
	syntax.DelayAction: {
		name: "delay", what: "an action of type delay",
		attributes: actionAttributes.with(attributes[syntax.Action]{"timeout": at(spanOf).is(timespanRule{})}),
		required:   []string{"timeout"},
	},
	syntax.InjectData: {
		name: "injectData", what: "an action of type injectData",
		attributes: actionAttributes.with(attributes[syntax.Action]{"expression": at(expressionIn).is(plainExpression)}),
		required:   []string{"expression"},
	},
	syntax.SequenceAction: {
		name: "sequence", what: "an action of type sequence",
		attributes: actionAttributes.with(attributes[syntax.Action]{"actions": at(childrenOf).is(severalActions)}),
		required:   []string{"actions"},
		also:       []func(*checker, *node, *syntax.Action){checkChildren},
	},
	syntax.ParallelAction: {
		name: "parallel", what: "an action of type parallel",
		attributes: actionAttributes.with(attributes[syntax.Action]{
			"actions":        at(childrenOf).is(severalActions),
			"completionType": at(func(a *syntax.Action) *syntax.Completion { return &a.Completion }).is(completionTypes),
			"n":              at(func(a *syntax.Action) *int { return &a.Need }).is(wholeRule{1}),
		}),
		required: []string{"actions"},
		also:     []func(*checker, *node, *syntax.Action){checkChildren, checkCount},
	},
	syntax.ForeachAction: {
		name: "foreach", what: "an action of type foreach",
		attributes: actionAttributes.with(attributes[syntax.Action]{
			"input": at(expressionIn).is(plainExpression), "action": at(childrenOf).is(oneAction{}),
			"maxParallel": at(func(a *syntax.Action) *int { return &a.Slots }).is(wholeRule{1}),
		}),
		required: []string{"input", "action"},
	},
	syntax.InvokeFunction: {
		name: "invokeFunction", what: "an action of type invokeFunction",
		attributes: actionAttributes.with(callAttributes, attributes[syntax.Action]{
			"functionName": at(func(a *syntax.Action) **syntax.Function { return &a.Function }).is(
				referenceRule[syntax.Function]{functionsOf}),
			"revert": at(revertOf).is(revertRule{}),
		}),
		required: []string{"functionName"},
		also:     []func(*checker, *node, *syntax.Action){checkCall},
	},
	syntax.InvokeSubflow: {
		name: "invokeSubflow", what: "an action of type invokeSubflow",
		attributes: actionAttributes.with(callAttributes, attributes[syntax.Action]{
			"subflowName": at(func(a *syntax.Action) *string { return &a.Subflow }).is(nameRule{}),
			"revert":      at(revertOf).is(revertSubflowRule{}),
		}),
		required: []string{"subflowName"},
		also:     []func(*checker, *node, *syntax.Action){checkCall},
	},
	syntax.SendEvent: {
		name: "sendEvent", what: "an action of type sendEvent",
		attributes: actionAttributes.with(attributes[syntax.Action]{
			"event": at(func(a *syntax.Action) **syntax.Event { return &a.Event }).is(
				referenceRule[syntax.Event]{eventsOf}),
			"expression":        at(expressionIn).is(plainExpression),
			"contextAttributes": at(func(a *syntax.Action) *[]syntax.TemplateMember { return &a.Attributes }).is(contextRule{}),
		}),
		required: []string{"event"},
	},
}

var (
	actionAttributes = named[syntax.Action]().with(attributes[syntax.Action]{
		"name": at(func(a *syntax.Action) *string { return &a.Title }).is(nameRule{}),
		"type": checked[syntax.Action, syntax.ActionType](actionTypes),
		"errorHandlers": at(func(a *syntax.Action) *[]*syntax.Handler { return &a.Handlers }).is(
			listRule[*syntax.Handler]{of: errorHandlerObject}),
	})
	callAttributes = attributes[syntax.Action]{
		"arguments":         at(func(a *syntax.Action) **syntax.Template { return &a.Arguments }).is(argumentsRule{}),
		"waitForCompletion": checked[syntax.Action, bool](boolRule{}), "timeout": at(spanOf).is(timespanRule{}),
	}
	severalActions = listRule[*syntax.Action]{of: actionRule{}, least: 1}
)

func spanOf(a *syntax.Action) *time.Duration               { return &a.Span }
func expressionIn(a *syntax.Action) **syntax.Expression    { return &a.Expression }
func childrenOf(a *syntax.Action) *[]*syntax.Action        { return &a.Children }
func revertOf(a *syntax.Action) **syntax.Revert            { return &a.Revert }
func statesOf(c *checker) *definitions[syntax.State]       { return &c.states }
func eventsOf(c *checker) *definitions[syntax.Event]       { return &c.events }
func functionsOf(c *checker) *definitions[syntax.Function] { return &c.functions }
func retriesOf(c *checker) *definitions[syntax.Retry]      { return &c.retries }

var (
	errorHandlerObject = &objectRule[syntax.Handler]{
		name: "errorHandler", what: "an error handler",
		attributes: named[syntax.Handler]().with(attributes[syntax.Handler]{
			"condition":     at(func(h *syntax.Handler) **syntax.Expression { return &h.Condition }).is(aboutExpression),
			"resultHandler": at(func(h *syntax.Handler) **syntax.Expression { return &h.Result }).is(handlerExpression),
			"retryPolicy": at(func(h *syntax.Handler) **syntax.Retry { return &h.Retry }).is(
				referenceRule[syntax.Retry]{retriesOf}),
		}),
		also: []func(*checker, *node, *syntax.Handler){checkLast, placeHandler},
	}
	revertObject = &objectRule[syntax.Revert]{
		name: "revert", what: "a revert",
		attributes: attributes[syntax.Revert]{
			"functionName": at(func(r *syntax.Revert) **syntax.Function { return &r.Function }).is(
				referenceRule[syntax.Function]{functionsOf}),
			"arguments": at(func(r *syntax.Revert) **syntax.Template { return &r.Arguments }).is(
				argumentsRule{[]string{valueVariable}}),
		},
		required: []string{"functionName"},
		also:     []func(*checker, *node, *syntax.Revert){checkRevert},
	}
)

// The allowed words of some attributes, in any case.
var (
	actionTypes     = wordRule[syntax.ActionType]{words: syntax.ActionNames[:]}
	completionTypes = wordRule[syntax.Completion]{words: []string{
		syntax.CompleteAll: "and", syntax.CompleteFirst: "xor",
		syntax.CompleteSome: "n_of_m",
	}}
	functionTypes = wordRule[syntax.FunctionType]{
		words: syntax.FunctionNames[:],
		more:  []string{"openapi", "jq", "grpc"},
	}
)
