package asl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
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

// The codes of problems that are found in the text that a definition is part of.
const (
	InvalidJSON  = check.InvalidJSON
	NotSupported = check.NotSupported // Ebb's own
)

// Schema returns a JSON Schema (draft 7) of the language for editors, with what
// Ebb adds to it. It says what a schema can say of the rules: fields, types, ranges.
// It is stricter in one thing: fields that [Validate] warns of, because the language
// does not know them, are errors.
func Schema() []byte { return check.Schema() }

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
