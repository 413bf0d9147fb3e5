// Package interpreter runs a machine: it answers the questions of the engine about a flow. What it has to remember
// between two answers is the memory of the flow.
package interpreter
