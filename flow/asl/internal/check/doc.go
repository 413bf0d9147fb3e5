// Package check reads definitions. It reports every rule that a definition breaks, and builds the syntax tree at
// the same time.
//
// The tables of language.go list the fields of each object, their rules, and where the tree stores them. The JSON
// Schema for editors and the manual are derived from the same tables.
package check
