package sm4c

// What the objects of the language look like.

var (
	described = attributes{"description": textShape{}}
	named     = described.with(attributes{"name": nameShape{}})
)

var machineForm = &form{
	name: "machine", what: "a state machine",
	attributes: named.with(attributes{
		"id": anyShape{}, "version": textShape{}, "timeout": executionTimeoutForm, "execTimeout": executionTimeoutForm,
		"events": collectionShape{eventForm}, "functions": collectionShape{functionForm}, "retries": collectionShape{retryForm},
		"states": listShape{of: stateShape{}, least: 1}, "resources": documentsShape{}, "waitDefault": boolShape{},
	}),
	required: []string{"name", "version", "states"},
	also:     []demand{startDemand{}, timeoutOnce{}, additionsDemand{}},
}

var executionTimeoutForm = &form{
	name: "executionTimeout", what: "the timeout of a machine",
	attributes: attributes{"duration": timespanShape{}, "action": actionShape{}},
	required:   []string{"duration"},
}

// What is defined beside the states.
var (
	eventForm = &form{
		name: "event", what: "the definition of an event",
		attributes: named.with(attributes{"type": nameShape{}, "source": nameShape{}, "correlation": listShape{of: correlationForm}, "kind": anyShape{}}),
		required:   []string{"name"},
	}
	correlationForm = &form{
		name: "correlation", what: "an entry of correlation",
		attributes: attributes{"contextAttributeName": nameShape{}, "contextAttributeValue": templateTextShape{}},
		required:   []string{"contextAttributeName"},
	}
	functionForm = &form{
		name: "function", what: "the definition of a function",
		attributes: named.with(attributes{"type": functionTypes, "operation": nameShape{}}),
		required:   []string{"name", "operation"},
		also:       []demand{functionDemand{}},
	}
	retryForm = &form{
		name: "retry", what: "a retry policy",
		attributes: named.with(attributes{
			"maxAttempts": wholeShape{0}, "delay": timespanShape{}, "maxDelay": timespanShape{}, "increment": timespanShape{},
			"multiplier": factorShape{}, "jitter": jitterShape{},
		}),
		required: []string{"name", "maxAttempts"},
		also:     []demand{backoffDemand{}},
	}
)

// States.
var (
	stateForm = &form{
		name: "state", what: "a state",
		attributes: named.with(attributes{
			"start": boolShape{}, "transitions": listShape{of: transitionForm}, "inputFilter": plainExpression,
			"enterAction": actionShape{}, "enterResultHandler": handlerExpression, "exitAction": actionShape{}, "exitResultHandler": handlerExpression,
		}),
		required: []string{"name"},
		also:     []demand{transitionsDemand{}, handled{"enterAction", "enterResultHandler"}, handled{"exitAction", "exitResultHandler"}},
	}
	transitionForm = &form{
		name: "transition", what: "a transition",
		attributes: named.with(attributes{
			"nextState": referenceShape{stateKind}, "condition": plainExpression, "eventGroups": listShape{of: groupForm},
			"timeout": timespanShape{}, "action": actionShape{}, "resultHandler": handlerExpression,
		}),
		also: []demand{handled{"action", "resultHandler"}},
	}
	groupForm = &form{
		name: "eventGroup", what: "an event group",
		attributes: attributes{"events": listShape{of: referenceShape{eventKind}, least: 1}, "condition": aboutExpression, "resultHandler": handlerExpression},
		required:   []string{"events"},
	}
)

// actionForms are the actions, by their types.
var actionForms = [...]*form{
	delayAction: {
		name: "delay", what: "an action of type delay",
		attributes: actionAttributes.with(attributes{"timeout": timespanShape{}}), required: []string{"timeout"},
	},
	injectData: {
		name: "injectData", what: "an action of type injectData",
		attributes: actionAttributes.with(attributes{"expression": plainExpression}), required: []string{"expression"},
	},
	sequenceAction: {
		name: "sequence", what: "an action of type sequence",
		attributes: actionAttributes.with(attributes{"actions": listShape{of: actionShape{}, least: 1}}), required: []string{"actions"},
		also: []demand{childrenDemand{}},
	},
	parallelAction: {
		name: "parallel", what: "an action of type parallel",
		attributes: actionAttributes.with(attributes{
			"actions": listShape{of: actionShape{}, least: 1}, "completionType": completionTypes, "n": wholeShape{1},
		}),
		required: []string{"actions"},
		also:     []demand{childrenDemand{}, countDemand{}},
	},
	foreachAction: {
		name: "foreach", what: "an action of type foreach",
		attributes: actionAttributes.with(attributes{"input": plainExpression, "action": actionShape{}, "maxParallel": wholeShape{1}}),
		required:   []string{"input", "action"},
	},
	invokeFunction: {
		name: "invokeFunction", what: "an action of type invokeFunction",
		attributes: actionAttributes.with(callAttributes, attributes{"functionName": referenceShape{functionKind}, "revert": revertShape{}}),
		required:   []string{"functionName"},
		also:       []demand{callDemand{}},
	},
	invokeSubflow: {
		name: "invokeSubflow", what: "an action of type invokeSubflow",
		attributes: actionAttributes.with(callAttributes, attributes{"subflowName": nameShape{}, "revert": revertSubflowShape{}}),
		required:   []string{"subflowName"},
		also:       []demand{callDemand{}},
	},
	sendEvent: {
		name: "sendEvent", what: "an action of type sendEvent",
		attributes: actionAttributes.with(attributes{"event": referenceShape{eventKind}, "expression": plainExpression, "contextAttributes": contextShape{}}),
		required:   []string{"event"},
	},
}

var (
	actionAttributes = named.with(attributes{"type": actionTypes, "errorHandlers": listShape{of: errorHandlerForm}})
	callAttributes   = attributes{"arguments": argumentsShape{}, "waitForCompletion": boolShape{}, "timeout": timespanShape{}}
)

var (
	errorHandlerForm = &form{
		name: "errorHandler", what: "an error handler",
		attributes: named.with(attributes{"condition": aboutExpression, "resultHandler": handlerExpression, "retryPolicy": referenceShape{retryKind}}),
		also:       []demand{lastHandler{}},
	}
	revertForm = &form{
		name: "revert", what: "a revert",
		attributes: attributes{"functionName": referenceShape{functionKind}, "arguments": argumentsShape{[]string{valueVariable}}},
		required:   []string{"functionName"},
		also:       []demand{revertDemand{}},
	}
)

// The words that some attributes are one of, in any case of letters.
var (
	actionTypes = wordShape{words: []string{
		delayAction: "delay", injectData: "injectData", sequenceAction: "sequence", parallelAction: "parallel",
		foreachAction: "foreach", invokeFunction: "invokeFunction", invokeSubflow: "invokeSubflow", sendEvent: "sendEvent",
	}}
	completionTypes = wordShape{words: []string{completeAll: "and", completeFirst: "xor", completeSome: "n_of_m"}}
	functionTypes   = wordShape{
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
