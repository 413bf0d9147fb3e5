package asl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow"
)

// The codes of problems.
const (
	InvalidJSON             Code = "INVALID_JSON_DESCRIPTION"
	SchemaValidationFailed  Code = "SCHEMA_VALIDATION_FAILED"
	InvalidResource         Code = "INVALID_RESOURCE"
	InvalidJSONata          Code = "INVALID_JSONATA_EXPRESSION"
	UnsupportedJSONata      Code = "UNSUPPORTED_JSONATA_EXPRESSION"
	MissingEndState         Code = "MISSING_END_STATE"
	DuplicateStateName      Code = "DUPLICATE_STATE_NAME"
	InvalidStateName        Code = "INVALID_STATE_NAME"
	DuplicateLabelName      Code = "DUPLICATE_LABEL_NAME"
	InvalidLabelName        Code = "INVALID_LABEL_NAME"
	MissingTransitionTarget Code = "MISSING_TRANSITION_TARGET"
	TooDeeplyNested         Code = "TOO_DEEPLY_NESTED"
	NoDollar                Code = "NO_DOLLAR"             // a warning
	NoPath                  Code = "NO_PATH"               // a warning
	PassResultIsStatic      Code = "PASS_RESULT_IS_STATIC" // a warning
	NotSupported            Code = "NOT_SUPPORTED_YET"     // Ebb's own
)

// What is found in a definition is told as in every language.
type (
	// Code is in the words of AWS's ValidateStateMachineDefinition.
	Code = flow.DiagnosticCode
	// Severity says what a problem means.
	Severity = flow.Severity
	// Problem is one thing that is wrong, or looks wrong, in a definition.
	Problem = flow.Diagnostic
	// Problems are all that [Validate] found, or what keeps [Parse] from returning a
	// machine, in the order of the text.
	Problems = flow.Diagnostics //nolint:errname // it is the plural, and reads as English
)

// The severities.
const (
	Error       = flow.SeverityError       // the definition is not legal
	Unsupported = flow.SeverityUnsupported // it is legal, but this version of Ebb cannot run it
	Warning     = flow.SeverityWarning     // it can be run, but hardly does what was meant
)

// Refusal returns the problems as AWS's API tells why it refuses a definition:
//
//	Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Next "Shipp" is no state at /States/Pay/Next'
func Refusal(ps Problems) string {
	all := make([]string, len(ps))
	for i, p := range ps {
		_, message, inState := strings.Cut(p.Message, `": `)
		if !inState || !strings.HasPrefix(p.Message, `state "`) {
			message = p.Message
		}
		all[i] = fmt.Sprintf("%s: %s at %s", p.Code, message, cmp.Or(p.Pointer, "/"))
	}
	return "Invalid State Machine Definition: '" + strings.Join(all, ", ") + "'"
}
