// Package stepgraph finds the steps of a definition whose work stays done if a later step fails. Flows of Go programs
// and definitions of all languages use the same graph. The package is pure.
package stepgraph
