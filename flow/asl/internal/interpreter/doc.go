// Package interpreter runs state machines. It answers the engine's questions about a run, and goes from state to
// state until it has to wait.
//
// An interpreter has three layers. Its surroundings are the run, the visit of a state and the variables, which
// expressions see. Its history writes the events that AWS would write. On top of both it visits states.
package interpreter
