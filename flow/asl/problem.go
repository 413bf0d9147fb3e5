package asl

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
)

// What is found in a definition is told as in every language.
type (
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
