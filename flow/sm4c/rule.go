package sm4c

import (
	"github.com/ebbflow/ebb/flow/internal/definition"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Rule is one thing that is demanded of definitions. Every [Problem] names the
// rule that it breaks.
type Rule = definition.Rule

// Rules returns all rules in the order of the manual.
func Rules() []Rule { return catalogue.Rules() }

var catalogue definition.Catalogue

func illegal(name, demands string) *Rule  { return catalogue.New(name, "", Error, demands) }
func doubtful(name, demands string) *Rule { return catalogue.New(name, "", Warning, demands) }

// The rules.
var (
	// The text.
	ruleSize    = illegal("size", "A definition has at most 1 MiB.")
	ruleJSON    = illegal("json", "A definition is JSON.")
	ruleNesting = illegal("nesting", "Objects and arrays nest at most 200 deep.")
	ruleObject  = illegal("object", "A definition is an object.")
	ruleOnce    = illegal("once", "A name occurs once in an object.")

	// Attributes.
	ruleRequired  = illegal("required", "A required attribute is there.")
	ruleType      = illegal("type", "A value is of the type that its attribute has.")
	ruleValue     = illegal("value", "A value is one of those, or in the range, that its attribute allows.")
	ruleEmpty     = illegal("empty", "states, the events of a group, and the actions of a sequence or parallel are not empty.")
	ruleUnknown   = doubtful("unknown-attribute", "What looks like a misspelt attribute is one; other unknown attributes are ignored.")
	ruleExtension = illegal("extension", "Under strict validation, what Ebb adds to the language is not used.")

	// Names.
	ruleNameOnce  = illegal("name-once", "States, events, functions and retry policies each have names of their own, whatever the case of their letters.")
	ruleChildOnce = illegal("child-once", "Children of a sequence or parallel have names of their own, which are no index of an unnamed one.")
	ruleReference = illegal("reference", "What is referred to by name is defined.")

	// Expressions.
	ruleExpression = illegal("expression", "An expression stands between ${ and }, with nothing around them.")
	ruleJQ         = illegal("jq", "What stands between ${ and } is a program of jq, or fn: and the name of an expression function.")
	ruleFnCircle   = illegal("function-circle", "An expression function does not refer to itself.")
	ruleLiteral    = doubtful("literal", "A text that holds ${ is an expression as a whole, or not at all: there is no interpolation.")
	ruleTimespan   = illegal("timespan", "A time span is written as [d.]hh:mm[:ss[.f]] or as in ISO 8601, such as PT90S.")

	// States and transitions.
	ruleStart       = illegal("start", "Exactly one state has \"start\": true.")
	ruleTwoImplicit = illegal("two-implicit", "A state has at most one transition without condition, eventGroups and timeout.")
	ruleSpin        = illegal("spin", "A transition that fires at once, or that does nothing when its time is up, has a nextState.")
	ruleTwoTimeouts = illegal("two-timeouts", "A state has at most one transition with a timeout alone.")
	ruleInert       = doubtful("inert", "A transition has one kind of trigger: condition, eventGroups or timeout; others are never taken.")
	ruleHidden      = doubtful("hidden", "A transition can be taken: none beside an unconditional one is.")
	ruleUnreachable = doubtful("unreachable", "Some transition leads to each state.")
	ruleStuck       = doubtful("stuck", "A state that has transitions can be left.")
	ruleNoAction    = doubtful("no-action", "A result handler has an action whose result it handles.")

	// Actions.
	ruleCount       = illegal("count", "n says how many of the actions of a parallel of type n_of_m must end: from 1 to all of them.")
	ruleRevertWaits = illegal("revert-waits", "A call that can be undone, or is a point of no return, is waited for.")
	ruleUnused      = doubtful("unused", "An attribute has an effect where it stands.")
	ruleUnusedCatch = doubtful("unused-handler", "Some error is left for an error handler.")

	// Functions.
	ruleLoad = illegal("load", "A document that a definition refers to can be loaded.")

	// What is legal, and cannot be run yet.
	ruleRPC = catalogue.New("rpc", "", Unsupported, "Functions of type rpc can be called; this version cannot.")
)

// common are the rules that the language shares with others.
var common = &definition.Common{
	Size: ruleSize, JSON: ruleJSON, Nesting: ruleNesting, Object: ruleObject, Once: ruleOnce, Required: ruleRequired,
	Type: ruleType, Value: ruleValue, Empty: ruleEmpty, Extension: ruleExtension,
	Deep: "objects and arrays nest deeper than they may",
}

// node is a value of a definition with its place.
type node = definition.Node

func quote(text string) string { return jsontext.Quote(text) }

func nameOf(n *node) string { return definition.NameOf(n) }
