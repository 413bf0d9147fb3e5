// Package expression evaluates expressions: paths, payload templates and intrinsic functions in JSONPath, queries
// in JSONata, and the conditions of Choice states. The syntax tree consists of its types. A [View] from the
// interpreter provides the values that an expression sees.
package expression
