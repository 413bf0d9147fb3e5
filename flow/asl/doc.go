// Package asl runs the Amazon States Language, the language of AWS Step
// Functions: it compiles a definition into a [Machine], which is a
// [flow.Language], so a state machine is a flow that grows while it runs.
//
//	m, err := asl.Parse("trip.asl.json", text)
//	if err != nil {
//		return err // every problem at once: trip.asl.json:12:9: state "Pay": Next "Shipp" is no state (did you mean "Ship"?)
//	}
//	run(m.Flow())
//
// # What becomes of a definition
//
// Each visit of a Task state is an atom, named after the state: Pay, at the
// second visit Pay#2. A Wait state is a timer. A Parallel state is a group of
// flows, one for each branch, a Map state one for each item: an atom in a branch
// has the path Fork[0]/Pay. Pass, Choice, Succeed and Fail only compute; an
// answer walks through up to 500 of them and then asks to be asked again.
//
// What a machine remembers while it waits is in the levelStates of its nodes and,
// for variables, in the memory of its flows; both are JSON. The program that starts a run
// may tell more about it with [Attributes].
//
// # The language
//
// All state types work, in both query languages: data processing in AWS's order,
// payload templates, variables, the 18 intrinsic functions, the expressions of
// JSONata, the context object, Retry with jitter, Catch, timeouts, and the errors
// with the causes that AWS gives.
//
// A Map state in DISTRIBUTED mode is a group of one child, its map run, which begins
// a run of the same machine for each item or batch: [Attributes.Map] tells that run
// what it is. Items are read and results written by the tasks [ReadItems] and
// [WriteObjects].
//
// A task whose resource ends in .waitForTaskToken, or is an activity, is ended by
// the party that has its token.
//
// Package check reads a definition and makes a typed syntax tree of it, package
// interpreter runs that. A [Profile] says by which edition of the language.
//
// Departures from AWS: all variables that a state can see have 384 KiB together; the
// events of a retry are written when it is decided, not
// when its delay is over.
//
// The language is extended by one field, which [Strict] refuses: Revert. In a Task
// it says how the state is undone, a resource, or an object with Resource,
// Parameters or Arguments and Retry, or that it cannot be, false. [Machine.Undo]
// says what the undoing task is given. In a catcher it says what is undone before
// the machine goes on.
//
// # History
//
// With each answer go the events that AWS would write, by its names, with the
// values as JSON instead of as JSON texts. The replay of executions recorded on
// AWS (TestConformanceASLLanguage) compares them down to their numbers.
//
// # Guarantees
//
// Parsing never panics, takes definitions up to [MaxDefinition] and reports up to
// [MaxProblems] problems of each [Severity]. A machine that was parsed never gives an internal
// error, whatever its tasks answer (FuzzParse, TestLegalRuns). No state hands on more than
// [MaxPayload], and nothing that could be larger is built in memory beyond the
// size of a value. The package is pure: no clock, no I/O, no goroutine; times and
// random bits come with the question.
package asl
