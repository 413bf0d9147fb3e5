package asl

import (
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl/internal/check"
)

// All languages report the problems of a definition with the same types.
type (
	// Severity is how serious a problem is.
	Severity = flow.Severity
	// Problem is one thing that is wrong, or looks wrong, in a definition.
	Problem = flow.Diagnostic
	// Problems are all problems that [Validate] found, or the problems that keep [Parse]
	// from returning a machine, in the order of the text.
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

// Schema returns a JSON Schema (draft 7) of the language for editors, with Ebb's
// additions. It covers the rules that a schema can express: fields, types, ranges.
// It is stricter in one point: if the language does not know a field, [Validate]
// warns, but the schema reports an error.
func Schema() []byte { return check.Schema() }
