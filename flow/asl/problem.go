package asl

import (
	"fmt"
	"strings"
)

// A Code says what kind of problem a definition has, in the words of AWS's
// ValidateStateMachineDefinition.
type Code string

// The codes of problems.
const (
	InvalidJSON             Code = "INVALID_JSON_DESCRIPTION"
	SchemaValidationFailed  Code = "SCHEMA_VALIDATION_FAILED"
	InvalidResource         Code = "INVALID_RESOURCE"
	MissingEndState         Code = "MISSING_END_STATE"
	DuplicateStateName      Code = "DUPLICATE_STATE_NAME"
	InvalidStateName        Code = "INVALID_STATE_NAME"
	MissingTransitionTarget Code = "MISSING_TRANSITION_TARGET"
	TooDeeplyNested         Code = "TOO_DEEPLY_NESTED"
	NoDollar                Code = "NO_DOLLAR"             // a warning
	PassResultIsStatic      Code = "PASS_RESULT_IS_STATIC" // a warning
)

// Severity says whether a problem keeps a definition from being run.
type Severity string

// The severities.
const (
	Error   Severity = "ERROR"
	Warning Severity = "WARNING"
)

// A Problem is one thing that is wrong, or looks wrong, in a definition.
type Problem struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"` // the name Parse was given
	Pointer  string   `json:"pointer"`        // JSON pointer to the value; "" is the whole definition
	Line     int      `json:"line"`           // from 1
	Column   int      `json:"column"`         // in characters, from 1
	Message  string   `json:"message"`        // what is wrong
	Fix      string   `json:"fix,omitempty"`  // what would be right
}

// String returns the problem on one line, place first:
//
//	orders.asl.json:12:9: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: %s", p.Line, p.Column, p.Message)
	if p.Fix != "" {
		fmt.Fprintf(&b, " (%s)", p.Fix)
	}
	return b.String()
}

// Problems is the error that Parse returns: everything that is wrong with a
// definition, in the order of the text.
//
//nolint:errname // it is the plural, and reads as English
type Problems []Problem

// Error returns the problems, one to a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
