// Package data contains the values that states pass on. A value is JSON text. It is decoded when a state reads it,
// as a tree for JSONPath or as a value for JSONata.
package data
