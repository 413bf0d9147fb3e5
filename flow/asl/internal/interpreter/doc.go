// Package interpreter runs state machines: it answers what the engine asks about a run, going from state to state
// until something has to be waited for.
//
// An interpreter has three layers. Its surroundings are the run, the visit of a state and the variables, which
// expressions see. Its history writes the events that AWS would write. On top of both it visits states.
package interpreter
