// Package expression computes values: paths, payload templates and intrinsic functions in JSONPath, queries in JSONata,
// and the conditions of Choice states. The syntax tree consists of its types. What an expression sees comes with a
// [View], and through it from the interpreter.
package expression
