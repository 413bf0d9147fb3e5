package sm4c

// What the objects of the language look like.

var (
	described = attributes{"description": textRule{}}
	named     = described.with(attributes{"name": nameRule{}})
)

var machineObject = &objectRule{
	name: "machine", what: "a state machine",
	attributes: named.with(attributes{
		"id": anyRule{}, "version": textRule{}, "timeout": executionTimeoutObject, "execTimeout": executionTimeoutObject,
		"events": collectionRule{eventObject}, "functions": collectionRule{functionObject}, "retries": collectionRule{retryObject},
		"states": listRule{of: stateRule{}, least: 1}, "resources": documentsRule{}, "waitDefault": boolRule{},
	}),
	required: []string{"name", "version", "states"},
	also:     []valueCheck{startCheck{}, timeoutOnce{}, additionsCheck{}},
}

var executionTimeoutObject = &objectRule{
	name: "executionTimeout", what: "the timeout of a machine",
	attributes: attributes{"duration": timespanRule{}, "action": actionRule{}},
	required:   []string{"duration"},
}

// What is defined beside the states.
var (
	eventObject = &objectRule{
		name: "event", what: "the definition of an event",
		attributes: named.with(attributes{"type": nameRule{}, "source": nameRule{}, "correlation": listRule{of: correlationObject}, "kind": anyRule{}}),
		required:   []string{"name"},
	}
	correlationObject = &objectRule{
		name: "correlation", what: "an entry of correlation",
		attributes: attributes{"contextAttributeName": nameRule{}, "contextAttributeValue": templateTextRule{}},
		required:   []string{"contextAttributeName"},
	}
	functionObject = &objectRule{
		name: "function", what: "the definition of a function",
		attributes: named.with(attributes{"type": functionTypes, "operation": nameRule{}}),
		required:   []string{"name", "operation"},
		also:       []valueCheck{functionCheck{}},
	}
	retryObject = &objectRule{
		name: "retry", what: "a retry policy",
		attributes: named.with(attributes{
			"maxAttempts": wholeRule{0}, "delay": timespanRule{}, "maxDelay": timespanRule{}, "increment": timespanRule{},
			"multiplier": factorRule{}, "jitter": jitterRule{},
		}),
		required: []string{"name", "maxAttempts"},
		also:     []valueCheck{backoffCheck{}},
	}
)

// States.
var (
	stateObject = &objectRule{
		name: "state", what: "a state",
		attributes: named.with(attributes{
			"start": boolRule{}, "transitions": listRule{of: transitionObject}, "inputFilter": plainExpression,
			"enterAction": actionRule{}, "enterResultHandler": handlerExpression, "exitAction": actionRule{}, "exitResultHandler": handlerExpression,
		}),
		required: []string{"name"},
		also:     []valueCheck{transitionsCheck{}, handled{"enterAction", "enterResultHandler"}, handled{"exitAction", "exitResultHandler"}},
	}
	transitionObject = &objectRule{
		name: "transition", what: "a transition",
		attributes: named.with(attributes{
			"nextState": referenceRule{stateKind}, "condition": plainExpression, "eventGroups": listRule{of: groupObject},
			"timeout": timespanRule{}, "action": actionRule{}, "resultHandler": handlerExpression,
		}),
		also: []valueCheck{handled{"action", "resultHandler"}},
	}
	groupObject = &objectRule{
		name: "eventGroup", what: "an event group",
		attributes: attributes{"events": listRule{of: referenceRule{eventKind}, least: 1}, "condition": aboutExpression, "resultHandler": handlerExpression},
		required:   []string{"events"},
	}
)

// actionForms are the actions, by their types.
var actionForms = [...]*objectRule{
	delayAction: {
		name: "delay", what: "an action of type delay",
		attributes: actionAttributes.with(attributes{"timeout": timespanRule{}}), required: []string{"timeout"},
	},
	injectData: {
		name: "injectData", what: "an action of type injectData",
		attributes: actionAttributes.with(attributes{"expression": plainExpression}), required: []string{"expression"},
	},
	sequenceAction: {
		name: "sequence", what: "an action of type sequence",
		attributes: actionAttributes.with(attributes{"actions": listRule{of: actionRule{}, least: 1}}), required: []string{"actions"},
		also: []valueCheck{childrenCheck{}},
	},
	parallelAction: {
		name: "parallel", what: "an action of type parallel",
		attributes: actionAttributes.with(attributes{
			"actions": listRule{of: actionRule{}, least: 1}, "completionType": completionTypes, "n": wholeRule{1},
		}),
		required: []string{"actions"},
		also:     []valueCheck{childrenCheck{}, countCheck{}},
	},
	foreachAction: {
		name: "foreach", what: "an action of type foreach",
		attributes: actionAttributes.with(attributes{"input": plainExpression, "action": actionRule{}, "maxParallel": wholeRule{1}}),
		required:   []string{"input", "action"},
	},
	invokeFunction: {
		name: "invokeFunction", what: "an action of type invokeFunction",
		attributes: actionAttributes.with(callAttributes, attributes{"functionName": referenceRule{functionKind}, "revert": revertRule{}}),
		required:   []string{"functionName"},
		also:       []valueCheck{callCheck{}},
	},
	invokeSubflow: {
		name: "invokeSubflow", what: "an action of type invokeSubflow",
		attributes: actionAttributes.with(callAttributes, attributes{"subflowName": nameRule{}, "revert": revertSubflowRule{}}),
		required:   []string{"subflowName"},
		also:       []valueCheck{callCheck{}},
	},
	sendEvent: {
		name: "sendEvent", what: "an action of type sendEvent",
		attributes: actionAttributes.with(attributes{"event": referenceRule{eventKind}, "expression": plainExpression, "contextAttributes": contextRule{}}),
		required:   []string{"event"},
	},
}

var (
	actionAttributes = named.with(attributes{"type": actionTypes, "errorHandlers": listRule{of: errorHandlerObject}})
	callAttributes   = attributes{"arguments": argumentsRule{}, "waitForCompletion": boolRule{}, "timeout": timespanRule{}}
)

var (
	errorHandlerObject = &objectRule{
		name: "errorHandler", what: "an error handler",
		attributes: named.with(attributes{"condition": aboutExpression, "resultHandler": handlerExpression, "retryPolicy": referenceRule{retryKind}}),
		also:       []valueCheck{lastHandler{}},
	}
	revertObject = &objectRule{
		name: "revert", what: "a revert",
		attributes: attributes{"functionName": referenceRule{functionKind}, "arguments": argumentsRule{[]string{valueVariable}}},
		required:   []string{"functionName"},
		also:       []valueCheck{revertCheck{}},
	}
)

// The words that some attributes are one of, in any case of messages.
var (
	actionTypes = wordRule{words: []string{
		delayAction: "delay", injectData: "injectData", sequenceAction: "sequence", parallelAction: "parallel",
		foreachAction: "foreach", invokeFunction: "invokeFunction", invokeSubflow: "invokeSubflow", sendEvent: "sendEvent",
	}}
	completionTypes = wordRule{words: []string{completeAll: "and", completeFirst: "xor", completeSome: "n_of_m"}}
	functionTypes   = wordRule{
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
