// Package check reads a definition, reports every rule that the definition breaks, and builds its machine. It also
// writes the JSON Schema of definitions, because the same rules for objects describe both.
package check
