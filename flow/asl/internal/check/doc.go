// Package check reads definitions. It reports every rule that is broken, and makes the syntax tree on the way.
//
// The tables of language.go say which fields an object has, what each may be, and where in the tree it is kept. The
// JSON Schema for editors and the manual follow from the same tables.
package check
