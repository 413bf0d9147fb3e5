package states

import "github.com/looplab/fsm"

// Machine returns a new looplab machine in the given state, made from the definitions of the tables. Its states are the
// texts, and its events are those of Pairs. Each caller owns its machine. Machines are for stepping by hand and for
// pictures: an event costs about a hundred times as much as Check.
func Machine[S Kind](initial S) *fsm.FSM {
	return fsm.NewFSM(initial.String(), initial.table().events, nil)
}
