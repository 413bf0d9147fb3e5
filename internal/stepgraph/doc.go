// Package stepgraph finds the steps of a definition whose work stays done when a later step fails. Flows of Go programs
// and definitions of all languages are given to it as the same graph. It is pure.
package stepgraph
