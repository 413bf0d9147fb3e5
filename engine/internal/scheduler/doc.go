// Package scheduler decides what a run does next. It is a function: each call of [Scheduler.Step] takes one event
// and returns commands. The scheduler does no I/O, reads no clock, calls no user code and evaluates no language.
// Where it needs one of these, it returns a command that asks the driver, and an event brings the answer.
// Therefore, the same events always give the same commands, and a test can replay any interleaving.
//
// The scheduler reproduces TaskFlow's behavior (docs/explanation/scheduling.md). The cost of an event is
// proportional to what the event changed: each node of the plan counts the direct neighbors for which it waits,
// forward and back. The scheduler looks only at nodes that a change reaches.
//
// What has a record of its own is a [Unit], planned or grown. How a unit waits, is called, is withdrawn and ends is the
// same for both (unit, external, withdraw, completed, record). What follows from its end is decided by one of two
// policies:
//
//   - TaskFlow's rules, for the atoms of a plan: wave, choose, counters, bind, resolve, retry, tries, reset, rewind,
//     pivot, transition.
//   - The answers of a language, for what it has grown: ask, answers, grow, node, scope, fork, drop, cancelling,
//     listening, alive, later; and unwind, undoing, leftdone, reopen for its undo.
//
// A growing flow has no plan. The scheduler creates its nodes when the language asks for them, and drops them when
// they are no longer needed. Therefore, a run that loops for ever stays small. A node that can be undone is on a
// stack in the store. To undo the flow, the scheduler asks for the stack's entries from the top.
//
// A process may die after any command of a plan that stores something, and the run resumes from the records up to
// that command. For a growing flow, the driver commits all commands of one Step together, because an answer of its
// language takes effect as a whole.
package scheduler
