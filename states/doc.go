// Package states names the states of flows, tasks, retries, jobs and engines, and says which may follow which. Code
// that will write a state checks it first:
//
//	if err := states.Check(run.State, states.FlowSuspending); err != nil {
//		return err // flow cannot go from SUCCESS to SUSPENDING (legal from SUCCESS: …)
//	}
//
// The tables are looplab/fsm definitions: TaskFlow's own rules first, then those that a feature of Ebb adds, each under
// the name of the feature. The package compiles them into bits when the program starts. A test generates the page
// docs/reference/states.md from them.
//
// # Guarantees
//
// The text of a state is TaskFlow's spelling. Texts and numbers may be stored: neither changes from one version of Ebb
// to the next. For an unknown text or number, the error is ErrUnknown.
//
// Every transition of TaskFlow's tables is legal (TestTaskFlowTables), and every
// other one belongs to a feature that is named with it (TestEbbPairsNameTheirFeature).
// The compiled tables and the looplab machines agree on every pair of states
// (TestMachinesAgreeWithTables). A legal Check allocates nothing
// (TestLegalCheckAllocatesNothing).
//
// The package is pure: no clock, no I/O, no state of its own. Any goroutine may call its functions. Only a machine
// belongs to the caller that made it.
package states
