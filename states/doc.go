// Package states names the states that flows, tasks, retries, jobs and engines
// can be in, and says which may follow which. Code that is about to write a state
// asks first:
//
//	if err := states.Check(run.State, states.FlowSuspending); err != nil {
//		return err // flow cannot go from SUCCESS to SUSPENDING (legal from SUCCESS: …)
//	}
//
// The tables are written as looplab/fsm definitions: TaskFlow's own rules first,
// then those that a feature of Ebb adds, each under the name of the feature. They
// are compiled into bits when the program starts. The page
// docs/reference/states.md is generated from them.
//
// # Guarantees
//
// The text of a state is TaskFlow's spelling. Texts and numbers may be stored:
// neither changes from one version of Ebb to the next, and a text or number of no
// state is refused with ErrUnknown.
//
// Every transition of TaskFlow's tables is legal (TestTaskFlowTables), and every
// other one belongs to a feature that is named with it (TestEbbPairsNameTheirFeature).
// The compiled tables and the looplab machines agree on every pair of states
// (TestMachinesAgreeWithTables). A legal Check allocates nothing
// (TestLegalCheckAllocatesNothing).
//
// The package is pure: no clock, no I/O, no state of its own. Everything in it may
// be called from any goroutine; only a machine belongs to the caller that made it.
package states
