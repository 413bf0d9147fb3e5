// Package asl runs the Amazon States Language, the language of AWS Step Functions. It compiles a definition into a
// [Machine], which is a [grow.Language]. Therefore, a state machine is a flow that grows while it runs.
//
//	m, err := asl.Parse("trip.asl.json", text)
//	if err != nil {
//		// Every problem at once: trip.asl.json:12:9: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
//		return err
//	}
//	run(m.Flow())
//
// # How a definition runs
//
// Each visit of a Task state is an atom with the name of the state: Pay, and Pay#2 at the second visit. A Wait
// state is a timer. A Parallel state is a group of flows, one for each branch. A Map state is a group of flows, one
// for each item. An atom in a branch has the path Fork[0]/Pay. Pass, Choice, Succeed and Fail only compute: an
// answer of the language passes through up to 500 of them, and then asks the engine to be asked again.
//
// While a machine waits, its state is in the notes of its nodes and, for variables, in the memory of its flows.
// Both are JSON. The program that starts a run may set properties of the run with [Attributes].
//
// # The language
//
// All state types work, in both query languages. That includes data processing in AWS's order, payload templates,
// variables, the 18 intrinsic functions, JSONata expressions, the context object, Retry with jitter, Catch, and
// timeouts. Errors have the names and causes of AWS.
//
// A Map state in DISTRIBUTED mode is a group of one child, its map run. The map run starts a run of the same
// machine for each item or batch; [Attributes.Map] identifies such a run. The tasks [ReadItems] and [WriteObjects]
// read items and write results.
//
// If the resource of a task ends in .waitForTaskToken, or is an activity, the party that has its token ends the
// task.
//
// Package check reads a definition and builds a typed syntax tree, and package interpreter runs the tree. A
// [Profile] selects the edition of the language.
//
// Departures from AWS: all variables that a state can see have 384 KiB together. The events of a retry are written
// when the retry is decided, not when its delay is over.
//
// Ebb extends the language by one field, which [Strict] refuses: Revert. In a Task state it defines how the state
// is undone: a resource, or an object with Resource, Parameters or Arguments and Retry. False means that the state
// is a pivot. [Machine.Undo] defines the input of the undo task. In a catcher, Revert names what is undone before
// the machine continues. [Plain] writes a machine without Revert, for AWS.
//
// # History
//
// Each answer contains the events that AWS would write, with AWS's names. Their values are JSON, not texts that
// contain JSON. A test replays executions recorded on AWS and compares all events and their numbers
// (TestConformanceASLLanguage).
//
// # Guarantees
//
// Parse never panics, accepts definitions up to [MaxDefinition], and reports up to [MaxProblems] problems of each
// [flow.Severity]. A parsed machine never returns an internal error, whatever its tasks return (FuzzParse,
// TestLegalRuns). No state passes on more than [MaxPayload], and no larger value is built in memory beyond the size
// of one value. The package is pure: no clock, no I/O, no goroutine. The engine provides times and random bits with
// each question.
package asl
