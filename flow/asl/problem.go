package asl

import (
	"github.com/ebbflow/ebb/flow/asl/internal/check"
)

// Codes of problems that are found in the text around a definition.
const (
	InvalidJSON  = check.InvalidJSON
	NotSupported = check.NotSupported // the definition is legal, but Ebb cannot run it; AWS has no such code
)

// Schema returns a JSON Schema (draft 7) of the language for editors, with Ebb's
// additions. It covers the rules that a schema can express: fields, types, ranges.
func Schema() []byte { return check.Schema() }
