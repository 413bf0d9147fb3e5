package check

import (
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

var rules definition.Catalog

// The rules.
var (
	// The text.
	ruleSize    = rules.Illegal("size", "A definition has at most 1 MiB.")
	ruleJSON    = rules.Illegal("json", "A definition is JSON.")
	ruleNesting = rules.Illegal("nesting", "Objects and arrays nest at most 200 deep.")
	ruleObject  = rules.Illegal("object", "A definition is an object.")
	ruleOnce    = rules.Illegal("once", "A name occurs once in an object.")

	// Attributes.
	ruleRequired = rules.Illegal("required", "A required attribute is there.")
	ruleType     = rules.Illegal("type", "A value is of the type that its attribute has.")
	ruleValue    = rules.Illegal("value", "A value is one of those, or in the range, that its attribute allows.")
	ruleEmpty    = rules.Illegal("empty",
		"states, the events of a group, and the actions of a sequence or parallel are not empty.")
	ruleUnknown = rules.Doubtful("unknown-attribute",
		"What looks like a misspelled or misplaced attribute is one; other unknown attributes are ignored.")
	ruleExtension = rules.Illegal("extension", "Under strict validation, what Ebb adds to the language is not used.")

	// Names.
	ruleNameOnce = rules.Illegal("name-once",
		"States, events, functions and retry policies each have names of their own, whatever the case of their letters.")
	ruleChildOnce = rules.Illegal("child-once",
		"Children of a sequence or parallel have names of their own, which are no index of an unnamed one.")
	ruleReference = rules.Illegal("reference", "What is referred to by name is defined.")

	// Expressions.
	ruleExpression = rules.Illegal("expression", "An expression stands between ${ and }, with nothing around them.")
	ruleJQ         = rules.Illegal("jq",
		"What stands between ${ and } is a program of jq, or fn: and the name of an expression function.")
	ruleFnCircle = rules.Illegal("function-circle", "An expression function does not refer to itself.")
	ruleLiteral  = rules.Doubtful("literal",
		"A text that holds ${ is an expression as a whole, or not at all: there is no interpolation.")
	ruleTimespan = rules.Illegal("timespan",
		"A time span is written as [d.]hh:mm[:ss[.f]] or as in ISO 8601, such as PT90S.")

	// States and transitions.
	ruleStart       = rules.Illegal("start", "Exactly one state has \"start\": true.")
	ruleTwoImplicit = rules.Illegal("two-implicit",
		"A state has at most one transition without condition, eventGroups and timeout.")
	ruleSpin = rules.Illegal("spin",
		"A transition that fires at once, or that does nothing when its time is up, has a nextState.")
	ruleTwoTimeouts = rules.Illegal("two-timeouts", "A state has at most one transition with a timeout alone.")
	ruleInert       = rules.Doubtful("inert",
		"A transition has one kind of trigger: condition, eventGroups or timeout; others are never taken.")
	ruleHidden      = rules.Doubtful("hidden", "A transition can be taken: none beside an unconditional one is.")
	ruleUnreachable = rules.Doubtful("unreachable", "Some transition leads to each state.")
	ruleStuck       = rules.Doubtful("stuck", "A state that has transitions can be left.")
	ruleNoAction    = rules.Doubtful("no-action", "A result handler has an action whose result it handles.")

	// Actions.
	ruleCount = rules.Illegal("count",
		"n says how many of the actions of a parallel of type n_of_m must end: from 1 to all of them.")
	ruleRevertWaits = rules.Illegal("revert-waits",
		"A call that can be undone, or is a point of no return, is waited for.")
	ruleStaysDone = rules.Doubtful("stays-done",
		"If something in the machine is undone, a call after which another can fail is undone, has no effect, or is a pivot.")
	ruleUnused      = rules.Doubtful("unused", "An attribute has an effect where it stands.")
	ruleUnusedCatch = rules.Doubtful("unused-handler", "Some error is left for an error handler.")

	// Functions.
	ruleLoad  = rules.Illegal("load", "A document that a definition refers to can be loaded.")
	ruleUnary = rules.Illegal("unary", "A function of type rpc is a method that does not stream.")
)

// common are the rules that the language shares with others.
var common = &definition.Common{
	Size: ruleSize, JSON: ruleJSON, Nesting: ruleNesting, Object: ruleObject, Once: ruleOnce, Required: ruleRequired,
	Type: ruleType, Value: ruleValue, Empty: ruleEmpty, Extension: ruleExtension,
	Deep: "objects and arrays nest deeper than they may",
}

// node is a value of a definition with its position.
type node = definition.Node

func quote(text string) string { return jsontext.Quote(text) }

func nameOf(n *node) string { return definition.NameOf(n) }
