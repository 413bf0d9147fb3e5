package check

import (
	"fmt"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/internal/definition"
)

// The codes of problems.
const (
	InvalidJSON             flow.DiagnosticCode = "INVALID_JSON_DESCRIPTION"
	SchemaValidationFailed  flow.DiagnosticCode = "SCHEMA_VALIDATION_FAILED"
	InvalidResource         flow.DiagnosticCode = "INVALID_RESOURCE"
	InvalidJSONata          flow.DiagnosticCode = "INVALID_JSONATA_EXPRESSION"
	UnsupportedJSONata      flow.DiagnosticCode = "UNSUPPORTED_JSONATA_EXPRESSION"
	MissingEndState         flow.DiagnosticCode = "MISSING_END_STATE"
	DuplicateStateName      flow.DiagnosticCode = "DUPLICATE_STATE_NAME"
	InvalidStateName        flow.DiagnosticCode = "INVALID_STATE_NAME"
	DuplicateLabelName      flow.DiagnosticCode = "DUPLICATE_LABEL_NAME"
	InvalidLabelName        flow.DiagnosticCode = "INVALID_LABEL_NAME"
	MissingTransitionTarget flow.DiagnosticCode = "MISSING_TRANSITION_TARGET"
	TooDeeplyNested         flow.DiagnosticCode = "TOO_DEEPLY_NESTED"
	NoDollar                flow.DiagnosticCode = "NO_DOLLAR"             // a warning
	NoPath                  flow.DiagnosticCode = "NO_PATH"               // a warning
	PassResultIsStatic      flow.DiagnosticCode = "PASS_RESULT_IS_STATIC" // a warning
	NotSupported            flow.DiagnosticCode = "NOT_SUPPORTED_YET"     // Ebb's own
)

// Rules returns all rules in the order of the manual.
func Rules() []definition.Rule { return catalogue.Rules() }

var catalogue definition.Catalogue

// illegal and doubtful are the most frequent kinds of rules.
func illegal(name, demands string) *definition.Rule {
	return catalogue.New(name, SchemaValidationFailed, flow.SeverityError, demands)
}

func doubtful(name, demands string) *definition.Rule {
	return catalogue.New(name, SchemaValidationFailed, flow.SeverityWarning, demands)
}

// The rules (asl.md, section b).
var (
	// The text.
	ruleSize      = illegal("size", "A definition has at most 1 MiB.")
	ruleJSON      = catalogue.New("json", InvalidJSON, flow.SeverityError, "A definition is JSON.")
	ruleNesting   = catalogue.New("nesting", TooDeeplyNested, flow.SeverityError, "Objects and arrays nest at most 200 deep.")
	ruleObject    = illegal("object", "A definition is an object.")
	ruleOnce      = illegal("once", "A name occurs once in an object.")
	ruleStateOnce = catalogue.New("state-once", DuplicateStateName, flow.SeverityError, "The name of a state is taken once in the whole machine, branches included.")

	// Fields.
	ruleRequired     = illegal("required", "A required field is there.")
	ruleType         = illegal("type", "A value is of the type that its field has.")
	ruleValue        = illegal("value", "A value is one of those, or in the range, that its field allows.")
	ruleEmpty        = illegal("empty", "States, Branches, Choices, And, Or and ErrorEquals are not empty.")
	ruleExclusive    = illegal("exclusive", "Of fields that exclude each other, such as Seconds and SecondsPath, one is there.")
	ruleField        = illegal("field", "A field of the language stands where it has a meaning.")
	ruleUnknownField = doubtful("unknown-field", "A field is one of the language; others are ignored.")
	ruleExtension    = illegal("extension", "Under strict validation, what Ebb adds to the language is not used.")

	// Query languages.
	ruleLanguageField = illegal("language-field", "A field belongs to the state's query language.")
	ruleDowngrade     = illegal("downgrade", "In a machine whose QueryLanguage is JSONata no state sets JSONPath.")
	ruleMisplaced     = doubtful("misplaced", "QueryLanguage of a machine stands beside States; inside it is taken as if it stood there.")
	ruleJSONata       = catalogue.New("jsonata", InvalidJSONata, flow.SeverityError, "An expression is legal JSONata.")
	ruleTopLevel      = catalogue.New("top-level", UnsupportedJSONata, flow.SeverityError,
		"An expression begins with $states or a variable: it has no input of its own, and no $eval.")
	ruleStates = catalogue.New("states", UnsupportedJSONata, flow.SeverityError,
		"$states has input and context; result in Output and Assign of Task, Parallel and Map, errorOutput in those of a catcher.")
	ruleDelimiters   = illegal("delimiters", "A JSONata expression stands between {% and %}, with nothing around them.")
	ruleNotEvaluated = catalogue.New("not-evaluated", NoDollar, flow.SeverityWarning, "In JSONata, what looks like a JSONPath field or an expression is one.")

	// States and transitions.
	ruleStateName = catalogue.New("state-name", InvalidStateName, flow.SeverityError,
		"A state's name has 1 to 80 characters (128 under spec2016), no control characters.")
	ruleTarget      = catalogue.New("target", MissingTransitionTarget, flow.SeverityError, "StartAt, Next and Default name a state of the same States object.")
	ruleNextOrEnd   = illegal("next-or-end", `A state that goes on has either Next or "End": true.`)
	ruleEnd         = catalogue.New("end", MissingEndState, flow.SeverityError, "Some state of each States object ends it.")
	ruleUnreachable = catalogue.New("unreachable", MissingTransitionTarget, flow.SeverityWarning,
		"Some transition leads to each state; AWS refuses the others, and so does strict validation.")
	ruleEndlessLoop = doubtful("endless-loop", "A loop of states that only compute can be left.")

	// Values.
	rulePath          = illegal("path", "A path is legal JSONPath.")
	ruleReferencePath = illegal("reference-path", "A reference path names one value; ResultPath names one of the input.")
	ruleTemplate      = illegal("template", "A field whose name ends in .$ is a path or a call of an intrinsic function.")
	ruleTwice         = illegal("twice", "A payload template gives each field once: x or x.$.")
	ruleNoDollar      = catalogue.New("no-dollar", NoDollar, flow.SeverityWarning,
		"What looks like a path or an intrinsic function in a payload template has a name that ends in .$.")
	ruleNoPath       = catalogue.New("no-path", NoPath, flow.SeverityWarning, "What looks like a path stands in a field whose name ends in Path.")
	ruleStaticResult = catalogue.New("static-result", PassResultIsStatic, flow.SeverityWarning, "Result of a Pass state is taken as it stands.")
	ruleTimestamp    = illegal("timestamp", "A timestamp is written as in RFC 3339, with T, seconds, and Z or an offset.")

	// Variables.
	ruleVariableName = illegal("variable-name", "A variable's name is an identifier of at most 80 characters, and not states.")
	ruleShadow       = illegal("shadow", "A variable that a level around has assigned is read, not assigned.")
	ruleUnassigned   = doubtful("unassigned", "A variable that is read is assigned by some state that can be seen.")
	ruleUndoVariable = illegal("undo-variable", "What undoes a state sees no variables.")

	// Tasks.
	ruleResource    = catalogue.New("resource", InvalidResource, flow.SeverityError, "Resource is a URI; an ARN has all of its parts.")
	ruleIntegration = illegal("integration", "A service is called in a way it has: .sync and .waitForTaskToken are not for all.")
	ruleExpress     = illegal("express", "An Express machine has no activities, no .sync, no .waitForTaskToken and no distributed Map.")
	ruleHeartbeat   = illegal("heartbeat", "HeartbeatSeconds is less than TimeoutSeconds.")
	ruleCredentials = illegal("credentials", "Credentials have a RoleArn.")
	ruleTaskToken   = doubtful("task-token", "A task that waits for its token is given the token.")

	// Errors.
	ruleStatesAll    = illegal("states-all", "States.ALL stands alone, and in the last entry.")
	ruleUnknownError = doubtful("unknown-error", "An error whose name begins with States. is one of the language.")
	ruleUnused       = doubtful("unused", "Some error is left for an entry of Retry or Catch.")
	ruleMaxDelay     = illegal("max-delay", "MaxDelaySeconds is greater than IntervalSeconds.")
	ruleErrorCause   = doubtful("error-and-cause", "Under spec2016, a Fail state has Error and Cause.")

	// Undoing.
	ruleRevertTo     = illegal("revert-to", "A catcher goes back to a state of which something can be undone.")
	ruleRevertInside = doubtful("revert-inside", "Where a catcher has undone what the state did, some of it can be undone.")
	ruleRevertFailed = illegal("revert-failed", "A catcher of Ebb.RevertFailed has no Revert.")
	ruleRevertRetry  = illegal("revert-retry", "Retry of a Revert has one entry, for States.ALL.")

	// Choices.
	ruleOperator = illegal("operator", "A rule of a Choice state has one of And, Or, Not or a comparison.")
	ruleInner    = illegal("inner-rule", "Next and Assign are for the rules of Choices, not for those inside them.")

	// Maps.
	ruleDistributed = illegal("distributed",
		"ItemReader, ItemBatcher, ResultWriter and Label belong to a Map whose Mode is DISTRIBUTED, which has an ExecutionType.")
	ruleTolerated = doubtful("tolerated", "Failures are tolerated by a Map whose Mode is DISTRIBUTED.")
	ruleLabel     = catalogue.New("label", InvalidLabelName, flow.SeverityError,
		"A Label has 1 to 40 characters, no blanks and none of ? * < > { } [ ] : ; , \\ | ^ ~ $ # % & ` \" among them.")
	ruleLabelOnce    = catalogue.New("label-once", DuplicateLabelName, flow.SeverityError, "A Label is taken once.")
	ruleHeaders      = illegal("csv-headers", "CSVHeaders are given when CSVHeaderLocation is GIVEN.")
	ruleBatcherLimit = illegal("batch-limit", "An ItemBatcher says how many items or bytes a batch has.")

	// What is legal, and cannot be run yet.
	rulePlaceholder = catalogue.New("placeholder", NotSupported, flow.SeverityUnsupported,
		"Placeholders of templates, such as ${Arn} or {\"Ref\": …}, are filled in before a machine is run.")
)

// common are the rules that the language shares with others.
var common = &definition.Common{
	Size: ruleSize, JSON: ruleJSON, Nesting: ruleNesting, Object: ruleObject, Once: ruleOnce, Required: ruleRequired,
	Type: ruleType, Value: ruleValue, Empty: ruleEmpty, Extension: ruleExtension,
	Deep: fmt.Sprintf("objects and arrays nest deeper than %d", definition.MaxNesting),
}
