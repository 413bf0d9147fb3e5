package sm4c

import "time"

// What the objects of the language look like.

// named are the attributes of what has a name that nothing refers to.
func named[T any]() attributes[T] {
	return attributes[T]{"name": checked[T, string](nameRule{}), "description": checked[T, string](textRule{})}
}

var machineObject = &objectRule[Machine]{
	name: "machine", what: "a state machine",
	attributes: named[Machine]().with(attributes[Machine]{
		"name": at(func(m *Machine) *string { return &m.title }).is(nameRule{}),
		"id":   checked[Machine, struct{}](anyRule{}), "version": at(func(m *Machine) *string { return &m.version }).is(textRule{}),
		"timeout": at(timeoutOf).is(executionTimeoutObject), "execTimeout": at(timeoutOf).is(executionTimeoutObject),
		"events":      checked[Machine, struct{}](collectionRule{eventObject}),
		"functions":   checked[Machine, struct{}](collectionRule{functionObject}),
		"retries":     checked[Machine, struct{}](collectionRule{retryObject}),
		"states":      checked[Machine, []*state](listRule[*state]{of: stateRule{}, least: 1}),
		"resources":   checked[Machine, struct{}](documentsRule{}),
		"waitDefault": checked[Machine, bool](boolRule{}),
	}),
	required: []string{"name", "version", "states"},
	also:     []func(*checker, *node, *Machine){checkStart, checkMachine},
}

func timeoutOf(m *Machine) **executionTimeout { return &m.timeout }

var executionTimeoutObject = &objectRule[executionTimeout]{
	name: "executionTimeout", what: "the timeout of a machine",
	attributes: attributes[executionTimeout]{
		"duration": at(func(t *executionTimeout) *time.Duration { return &t.after }).is(timespanRule{}),
		"action":   at(func(t *executionTimeout) **action { return &t.action }).is(actionRule{}),
	},
	required: []string{"duration"},
}

// What is defined beside the states.
var (
	eventObject = &objectRule[event]{
		name: "event", what: "the definition of an event",
		attributes: named[event]().with(attributes[event]{
			"name":        at(func(e *event) *string { return &e.name }).is(nameRule{}),
			"type":        at(func(e *event) *string { return &e.typ }).is(nameRule{}),
			"source":      at(func(e *event) *string { return &e.source }).is(nameRule{}),
			"correlation": at(func(e *event) *[]*correlation { return &e.correlation }).is(listRule[*correlation]{of: correlationObject}),
			"kind":        checked[event, struct{}](anyRule{}),
		}),
		required: []string{"name"},
	}
	correlationObject = &objectRule[correlation]{
		name: "correlation", what: "an entry of correlation",
		attributes: attributes[correlation]{
			"contextAttributeName":  at(func(k *correlation) *string { return &k.attribute }).is(nameRule{}),
			"contextAttributeValue": at(func(k *correlation) **template { return &k.value }).is(templateTextRule{}),
		},
		required: []string{"contextAttributeName"},
	}
	functionObject = &objectRule[function]{
		name: "function", what: "the definition of a function",
		attributes: named[function]().with(attributes[function]{
			"name":      at(func(f *function) *string { return &f.name }).is(nameRule{}),
			"type":      at(func(f *function) *functionType { return &f.kind }).is(functionTypes),
			"operation": at(func(f *function) *string { return &f.operation }).is(nameRule{}),
		}),
		required: []string{"name", "operation"},
		also:     []func(*checker, *node, *function){checkFunction},
	}
	retryObject = &objectRule[retry]{
		name: "retry", what: "a retry policy",
		attributes: named[retry]().with(attributes[retry]{
			"maxAttempts": at(func(r *retry) *int { return &r.times }).is(wholeRule{0}),
			"delay":       at(func(r *retry) *time.Duration { return &r.delay }).is(timespanRule{}),
			"maxDelay":    at(func(r *retry) *time.Duration { return &r.most }).is(timespanRule{}),
			"increment":   at(func(r *retry) *time.Duration { return &r.increment }).is(timespanRule{}),
			"multiplier":  at(func(r *retry) *float64 { return &r.multiplier }).is(factorRule{}),
			"jitter":      at(func(r *retry) *jitter { return &r.jitter }).is(jitterRule{}),
		}),
		required: []string{"name", "maxAttempts"},
		also:     []func(*checker, *node, *retry){checkBackoff},
	}
)

// States.
var (
	stateObject = &objectRule[state]{
		name: "state", what: "a state",
		attributes: named[state]().with(attributes[state]{
			"name":               at(func(s *state) *string { return &s.name }).is(nameRule{}),
			"start":              checked[state, bool](boolRule{}),
			"transitions":        at(func(s *state) *[]*transition { return &s.transitions }).is(listRule[*transition]{of: transitionObject}),
			"inputFilter":        at(func(s *state) **expression { return &s.filter }).is(plainExpression),
			"enterAction":        at(func(s *state) **action { return &s.enter.action }).is(actionRule{}),
			"enterResultHandler": at(func(s *state) **expression { return &s.enter.handler }).is(handlerExpression),
			"exitAction":         at(func(s *state) **action { return &s.exit.action }).is(actionRule{}),
			"exitResultHandler":  at(func(s *state) **expression { return &s.exit.handler }).is(handlerExpression),
		}),
		required: []string{"name"},
		also: []func(*checker, *node, *state){
			checkTransitions, handled[state]("enterAction", "enterResultHandler"), handled[state]("exitAction", "exitResultHandler"),
		},
	}
	transitionObject = &objectRule[transition]{
		name: "transition", what: "a transition",
		attributes: named[transition]().with(attributes[transition]{
			"nextState":     at(func(t *transition) **state { return &t.next }).is(referenceRule[state]{statesOf}),
			"condition":     at(func(t *transition) **expression { return &t.condition }).is(plainExpression),
			"eventGroups":   at(func(t *transition) *[]*group { return &t.groups }).is(listRule[*group]{of: groupObject}),
			"timeout":       at(func(t *transition) *time.Duration { return &t.timeout }).is(timespanRule{}),
			"action":        at(func(t *transition) **action { return &t.effect.action }).is(actionRule{}),
			"resultHandler": at(func(t *transition) **expression { return &t.effect.handler }).is(handlerExpression),
		}),
		also: []func(*checker, *node, *transition){handled[transition]("action", "resultHandler"), describeTransition},
	}
	groupObject = &objectRule[group]{
		name: "eventGroup", what: "an event group",
		attributes: attributes[group]{
			"events":        at(func(g *group) *[]*event { return &g.events }).is(listRule[*event]{of: referenceRule[event]{eventsOf}, least: 1}),
			"condition":     at(func(g *group) **expression { return &g.condition }).is(aboutExpression),
			"resultHandler": at(func(g *group) **expression { return &g.handler }).is(handlerExpression),
		},
		required: []string{"events"},
	}
)

// actionForms are the actions, by their types.
var actionForms = [...]*objectRule[action]{
	delayAction: {
		name: "delay", what: "an action of type delay",
		attributes: actionAttributes.with(attributes[action]{"timeout": at(spanOf).is(timespanRule{})}), required: []string{"timeout"},
	},
	injectData: {
		name: "injectData", what: "an action of type injectData",
		attributes: actionAttributes.with(attributes[action]{"expression": at(expressionIn).is(plainExpression)}), required: []string{"expression"},
	},
	sequenceAction: {
		name: "sequence", what: "an action of type sequence",
		attributes: actionAttributes.with(attributes[action]{"actions": at(childrenOf).is(severalActions)}), required: []string{"actions"},
		also: []func(*checker, *node, *action){checkChildren},
	},
	parallelAction: {
		name: "parallel", what: "an action of type parallel",
		attributes: actionAttributes.with(attributes[action]{
			"actions":        at(childrenOf).is(severalActions),
			"completionType": at(func(a *action) *completion { return &a.completion }).is(completionTypes),
			"n":              at(func(a *action) *int { return &a.need }).is(wholeRule{1}),
		}),
		required: []string{"actions"},
		also:     []func(*checker, *node, *action){checkChildren, checkCount},
	},
	foreachAction: {
		name: "foreach", what: "an action of type foreach",
		attributes: actionAttributes.with(attributes[action]{
			"input": at(expressionIn).is(plainExpression), "action": at(childrenOf).is(oneAction{}),
			"maxParallel": at(func(a *action) *int { return &a.slots }).is(wholeRule{1}),
		}),
		required: []string{"input", "action"},
	},
	invokeFunction: {
		name: "invokeFunction", what: "an action of type invokeFunction",
		attributes: actionAttributes.with(callAttributes, attributes[action]{
			"functionName": at(func(a *action) **function { return &a.function }).is(referenceRule[function]{functionsOf}),
			"revert":       at(revertOf).is(revertRule{}),
		}),
		required: []string{"functionName"},
		also:     []func(*checker, *node, *action){checkCall},
	},
	invokeSubflow: {
		name: "invokeSubflow", what: "an action of type invokeSubflow",
		attributes: actionAttributes.with(callAttributes, attributes[action]{
			"subflowName": at(func(a *action) *string { return &a.subflow }).is(nameRule{}), "revert": at(revertOf).is(revertSubflowRule{}),
		}),
		required: []string{"subflowName"},
		also:     []func(*checker, *node, *action){checkCall},
	},
	sendEvent: {
		name: "sendEvent", what: "an action of type sendEvent",
		attributes: actionAttributes.with(attributes[action]{
			"event":             at(func(a *action) **event { return &a.event }).is(referenceRule[event]{eventsOf}),
			"expression":        at(expressionIn).is(plainExpression),
			"contextAttributes": at(func(a *action) *[]templateMember { return &a.attributes }).is(contextRule{}),
		}),
		required: []string{"event"},
	},
}

var (
	actionAttributes = named[action]().with(attributes[action]{
		"name":          at(func(a *action) *string { return &a.title }).is(nameRule{}),
		"type":          checked[action, actionType](actionTypes),
		"errorHandlers": at(func(a *action) *[]*handler { return &a.handlers }).is(listRule[*handler]{of: errorHandlerObject}),
	})
	callAttributes = attributes[action]{
		"arguments":         at(func(a *action) **template { return &a.arguments }).is(argumentsRule{}),
		"waitForCompletion": checked[action, bool](boolRule{}), "timeout": at(spanOf).is(timespanRule{}),
	}
	severalActions = listRule[*action]{of: actionRule{}, least: 1}
)

func spanOf(a *action) *time.Duration               { return &a.span }
func expressionIn(a *action) **expression           { return &a.expression }
func childrenOf(a *action) *[]*action               { return &a.children }
func revertOf(a *action) **revert                   { return &a.revert }
func statesOf(c *checker) *definitions[state]       { return &c.states }
func eventsOf(c *checker) *definitions[event]       { return &c.events }
func functionsOf(c *checker) *definitions[function] { return &c.functions }
func retriesOf(c *checker) *definitions[retry]      { return &c.retries }

var (
	errorHandlerObject = &objectRule[handler]{
		name: "errorHandler", what: "an error handler",
		attributes: named[handler]().with(attributes[handler]{
			"condition":     at(func(h *handler) **expression { return &h.condition }).is(aboutExpression),
			"resultHandler": at(func(h *handler) **expression { return &h.result }).is(handlerExpression),
			"retryPolicy":   at(func(h *handler) **retry { return &h.retry }).is(referenceRule[retry]{retriesOf}),
		}),
		also: []func(*checker, *node, *handler){checkLast},
	}
	revertObject = &objectRule[revert]{
		name: "revert", what: "a revert",
		attributes: attributes[revert]{
			"functionName": at(func(r *revert) **function { return &r.function }).is(referenceRule[function]{functionsOf}),
			"arguments":    at(func(r *revert) **template { return &r.arguments }).is(argumentsRule{[]string{valueVariable}}),
		},
		required: []string{"functionName"},
		also:     []func(*checker, *node, *revert){checkRevert},
	}
)

// The words that some attributes are one of, in any case of their characters.
var (
	actionTypes = wordRule[actionType]{words: []string{
		delayAction: "delay", injectData: "injectData", sequenceAction: "sequence", parallelAction: "parallel",
		foreachAction: "foreach", invokeFunction: "invokeFunction", invokeSubflow: "invokeSubflow", sendEvent: "sendEvent",
	}}
	completionTypes = wordRule[completion]{words: []string{completeAll: "and", completeFirst: "xor", completeSome: "n_of_m"}}
	functionTypes   = wordRule[functionType]{
		words: []string{restFunction: "rest", expressionFunction: "expression", rpcFunction: "rpc", taskFunction: "task"},
		more:  []string{"openapi", "jq", "grpc"},
	}
)

// actionType tells actions apart.
type actionType uint8

const (
	delayAction actionType = iota
	injectData
	sequenceAction
	parallelAction
	foreachAction
	invokeFunction
	invokeSubflow
	sendEvent
)

// String returns the type as definitions have it.
func (t actionType) String() string { return actionTypes.words[t] }

// completion says when a parallel action has ended.
type completion uint8

const (
	completeAll completion = iota
	completeFirst
	completeSome
)

// functionType tells functions apart.
type functionType uint8

const (
	restFunction functionType = iota
	expressionFunction
	rpcFunction
	taskFunction
)

// String returns the type as definitions have it.
func (t functionType) String() string { return functionTypes.words[t] }
