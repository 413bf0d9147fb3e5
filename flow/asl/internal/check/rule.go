package check

import (
	"fmt"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/internal/definition"
)

// Codes of problems, named as in AWS's ValidateStateMachineDefinition.
const (
	InvalidJSON             flow.DiagnosticCode = "INVALID_JSON_DESCRIPTION"
	schemaValidationFailed  flow.DiagnosticCode = "SCHEMA_VALIDATION_FAILED"
	invalidResource         flow.DiagnosticCode = "INVALID_RESOURCE"
	unsupportedJSONata      flow.DiagnosticCode = "UNSUPPORTED_JSONATA_EXPRESSION"
	missingTransitionTarget flow.DiagnosticCode = "MISSING_TRANSITION_TARGET"
	noDollar                flow.DiagnosticCode = "NO_DOLLAR"         // a warning
	NotSupported            flow.DiagnosticCode = "NOT_SUPPORTED_YET" // Ebb's own
)

// Rules returns all rules in the order of the manual.
func Rules() []*definition.Rule { return rules.Rules() }

var rules = definition.Catalog{Code: schemaValidationFailed}

// The rules (asl.md, section b).
var (
	// The text.
	ruleSize    = rules.Illegal("size", "A definition has at most 1 MiB.")
	ruleJSON    = rules.New("json", InvalidJSON, flow.SeverityError, "A definition is JSON.")
	ruleNesting = rules.New("nesting", "TOO_DEEPLY_NESTED", flow.SeverityError,
		"Objects and arrays nest at most 200 deep.")
	ruleObject    = rules.Illegal("object", "A definition is an object.")
	ruleOnce      = rules.Illegal("once", "A name occurs once in an object.")
	ruleStateOnce = rules.New("state-once", "DUPLICATE_STATE_NAME", flow.SeverityError,
		"The name of a state is taken once in the whole machine, branches included.")

	// Fields.
	ruleRequired  = rules.Illegal("required", "A required field is there.")
	ruleType      = rules.Illegal("type", "A value is of the type that its field has.")
	ruleValue     = rules.Illegal("value", "A value is one of those, or in the range, that its field allows.")
	ruleEmpty     = rules.Illegal("empty", "States, Branches, Choices, And, Or and ErrorEquals are not empty.")
	ruleExclusive = rules.Illegal("exclusive",
		"Of fields that exclude each other, such as Seconds and SecondsPath, one is there.")
	ruleField        = rules.Illegal("field", "A field of the language stands where it has a meaning.")
	ruleUnknownField = rules.Later("unknown-field", schemaValidationFailed, "A field is one of the language.")
	ruleExtension    = rules.Illegal("extension",
		"Under strict validation, what Ebb adds to the language is not used; AWS's API warns of it.")

	// Query languages.
	ruleLanguageField = rules.Illegal("language-field", "A field belongs to the state's query language.")
	ruleDowngrade     = rules.Illegal("downgrade", "In a machine whose QueryLanguage is JSONata no state sets JSONPath.")
	ruleMisplaced     = rules.Doubtful("misplaced",
		"QueryLanguage of a machine stands beside States; inside it is taken as if it stood there.")
	ruleJSONata = rules.New("jsonata", "INVALID_JSONATA_EXPRESSION", flow.SeverityError,
		"An expression is legal JSONata.")
	ruleTopLevel = rules.New("top-level", unsupportedJSONata, flow.SeverityError,
		"An expression begins with $states or a variable: it has no input of its own.")
	ruleStates = rules.New("states", unsupportedJSONata, flow.SeverityError,
		"$states has input and context; result in Output and Assign of Task, Parallel and Map, errorOutput in those of a "+
			"catcher.")
	ruleDelimiters = rules.Illegal("delimiters",
		"A JSONata expression stands between {% and %}, with nothing around them.")
	ruleNotEvaluated = rules.New("not-evaluated", noDollar, flow.SeverityWarning,
		"In JSONata, what looks like a JSONPath field or an expression is one.")
	ruleExpressionInPath = rules.Doubtful("expression-in-path", "In JSONPath, no text stands between {% and %}.")

	// States and transitions.
	ruleStateName = rules.New("state-name", "INVALID_STATE_NAME", flow.SeverityError,
		"A state's name has 1 to 80 characters (128 under spec2016), no control characters.")
	ruleTarget = rules.New("target", missingTransitionTarget, flow.SeverityError,
		"StartAt, Next and Default name a state of the same States object.")
	ruleNextOrEnd = rules.Illegal("next-or-end", `A state that goes on has either Next or "End": true.`)
	ruleEnd       = rules.New("end", "MISSING_END_STATE", flow.SeverityError,
		"Some state of each States object ends it.")
	ruleUnreachable = rules.New("unreachable", missingTransitionTarget, flow.SeverityWarning,
		"Some transition leads to each state; AWS refuses the others, and so does strict validation.")
	ruleEndlessLoop = rules.Doubtful("endless-loop", "A loop of states that only compute can be left.")

	// Values.
	rulePath          = rules.Illegal("path", "A path is legal JSONPath.")
	ruleDialect       = rules.Doubtful("dialect", "A path means the same to AWS as in newer versions of JSONPath.")
	ruleReferencePath = rules.Illegal("reference-path",
		"A reference path names one value; ResultPath names one of the input.")
	ruleTemplate = rules.Illegal("template", "A field whose name ends in .$ is a path or a call of an intrinsic function.")
	ruleTwice    = rules.Illegal("twice", "A payload template gives each field once: x or x.$.")
	ruleNoDollar = rules.New("no-dollar", noDollar, flow.SeverityWarning,
		"What looks like a path or an intrinsic function in a payload template has a name that ends in .$.")
	ruleNoPath = rules.New("no-path", "NO_PATH", flow.SeverityWarning,
		"What looks like a path stands in a field whose name ends in Path.")
	ruleStaticResult = rules.New("static-result", "PASS_RESULT_IS_STATIC", flow.SeverityWarning,
		"Result of a Pass state is taken as it stands.")
	ruleContext   = rules.Doubtful("context", "A path into the context object names something there.")
	ruleFormat    = rules.Doubtful("format", "The text of States.Format has as many {} as there are values behind it.")
	ruleTimestamp = rules.Illegal("timestamp",
		"A timestamp is written as in RFC 3339, with T, seconds, and Z or an offset.")

	// Variables.
	ruleVariableName = rules.Illegal("variable-name",
		"A variable's name is an identifier of at most 80 characters, and not states.")
	ruleShadow = rules.New("shadow", "DUPLICATE_VARIABLE_NAME", flow.SeverityError,
		"A variable that a level around has assigned is read, not assigned.")
	ruleUnassigned   = rules.Doubtful("unassigned", "A variable that is read is assigned by some state that can be seen.")
	ruleUndoVariable = rules.Illegal("undo-variable", "What undoes a state sees no variables.")

	// Tasks.
	ruleResource = rules.New("resource", invalidResource, flow.SeverityError,
		"Resource is a URI; an ARN has all of its parts.")
	ruleARN = rules.Later("arn", invalidResource,
		"The ARN of a Lambda function or an activity has a region, an account and a name.")
	ruleIntegration = rules.Illegal("integration",
		"A service is called in a way it has. Few actions are optimized, aws-sdk has the others; only jobs have .sync.")
	ruleExpress = rules.Illegal("express",
		"An Express machine has no activities, no .sync, no .waitForTaskToken and no distributed Map.")
	ruleHeartbeat   = rules.Illegal("heartbeat", "HeartbeatSeconds is less than TimeoutSeconds.")
	ruleCredentials = rules.Illegal("credentials", "Credentials have a RoleArn, and are not for activities.")
	ruleMisspelled  = rules.Later("misspelled", schemaValidationFailed,
		"An action of AWS's SDK is not the misspelled name of a known one.")
	ruleKnownIntegration = rules.Doubtful("known-integration",
		"A call of AWS's SDK is one that is known; AWS adds new ones.")
	ruleParameter = rules.Doubtful("parameter",
		"A service integration is passed the parameters that it needs, and no others.")
	ruleTaskToken = rules.Doubtful("task-token", "A task that waits for its token is given the token.")

	// Errors.
	ruleStatesAll    = rules.Illegal("states-all", "States.ALL stands alone, and in the last entry.")
	ruleUnknownError = rules.Doubtful("unknown-error", "An error whose name begins with States. is one of the language.")
	ruleUnused       = rules.Doubtful("unused", "Some error is left for an entry of Retry or Catch.")
	ruleMaxDelay     = rules.Illegal("max-delay", "MaxDelaySeconds is greater than IntervalSeconds.")
	ruleErrorCause   = rules.Doubtful("error-and-cause", "Under spec2016, a Fail state has Error and Cause.")

	// Undoing.
	ruleRevertTo  = rules.Illegal("revert-to", "A catcher goes back to a state of which something can be undone.")
	ruleStaysDone = rules.Doubtful("stays-done",
		"If something in the machine is undone, a Task after which a state can fail is undone, has no effect, or is a pivot.")
	ruleRevertInside = rules.Doubtful("revert-inside",
		"Where a catcher has undone what the state did, some of it can be undone.")
	ruleRevertFailed = rules.Illegal("revert-failed", "A catcher of Ebb.RevertFailed has no Revert.")
	ruleRevertRetry  = rules.Illegal("revert-retry", "Retry of a Revert has one entry, for States.ALL.")

	// Choices.
	ruleOperator = rules.Illegal("operator", "A rule of a Choice state has one of And, Or, Not or a comparison.")
	ruleInner    = rules.Illegal("inner-rule", "Next and Assign are for the rules of Choices, not for those inside them.")

	// Maps.
	ruleDistributed = rules.Illegal("distributed",
		"ItemReader, ItemBatcher, ResultWriter and Label belong to a Map whose Mode is DISTRIBUTED, which has an "+
			"ExecutionType.")
	ruleReader    = rules.Illegal("reader", "The items of a Map are read, and its results written, in a way that AWS has.")
	ruleTolerated = rules.Doubtful("tolerated", "Failures are tolerated by a Map whose Mode is DISTRIBUTED.")
	ruleLabel     = rules.New("label", "INVALID_LABEL_NAME", flow.SeverityError,
		"A Label has 1 to 40 characters, no blanks and none of ? * < > { } [ ] : ; , \\ | ^ ~ $ # % & ` \" among them.")
	ruleLabelOnce = rules.New("label-once", "DUPLICATE_LABEL_NAME", flow.SeverityError, "A Label is taken once.")
	ruleHeaders   = rules.Illegal("csv-headers",
		"A CSV file has a CSVHeaderLocation, JSON has none; CSVHeaders are given when it is GIVEN.")
	ruleBatcherLimit = rules.Illegal("batch-limit", "An ItemBatcher says how many items or bytes a batch has.")

	// Legal features that this version cannot run.
	rulePlaceholder = rules.New("placeholder", NotSupported, flow.SeverityUnsupported,
		"Placeholders of templates, such as ${Arn} or {\"Ref\": …}, are filled in before a machine is run.")
)

// common are the rules that the language shares with others.
var common = &definition.Common{
	Size: ruleSize, JSON: ruleJSON, Nesting: ruleNesting, Object: ruleObject, Once: ruleOnce, Required: ruleRequired,
	Type: ruleType, Value: ruleValue, Empty: ruleEmpty, Extension: ruleExtension,
	Deep: fmt.Sprintf("objects and arrays nest deeper than %d", definition.MaxNesting),
}
