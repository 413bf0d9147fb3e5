package states_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/states"
)

func ExampleCheck() {
	err := states.Check(states.FlowSuccess, states.FlowReverted)
	fmt.Println(err)

	if refused, ok := errors.AsType[*states.TransitionError](err); ok {
		fmt.Println("try:", refused.Legal)
	}
	// Output:
	// states: flow cannot go from SUCCESS to REVERTED (legal from SUCCESS: PENDING, RUNNING)
	// try: [PENDING RUNNING]
}

func ExampleMachine() {
	machine := states.Machine(states.TaskPending)
	for _, event := range []string{"start", "succeed", "revert", "reverted"} {
		if err := machine.Event(context.Background(), event); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(machine.Current())
	}
	// Output:
	// RUNNING
	// SUCCESS
	// REVERTING
	// REVERTED
}
