// Package sm4c runs SM4C, State Machines For Cloud. It compiles a definition into a [Machine], which is a
// [grow.Language]. Therefore, a state machine is a flow that grows while it runs.
//
//	m, err := sm4c.Parse("trip.sm4c.json", text)
//	if err != nil {
//		return err // every problem at once: trip.sm4c.json:12:9: state "Pay": nextState "Shipp" …
//	}
//	run(m.Flow())
//
// # How a definition runs
//
// A call is an atom. Its name is its position, such as HotelReserved/enter, or its own name, such as
// HotelReserved/book; the second atom with a name is …#2. A delay, and the time of a transition, is a timer. A
// parallel or foreach action is a group of flows, Trip/enter/parallel[1]. A subflow is a child run, as is a call
// that the machine does not wait for. Actions that only compute run within an answer of the language.
//
// The machine's data, keys and inbox are the memory of the run's own flow. The commit that processes an event's
// message puts the event into the inbox, or lets a transition consume it. The machine sends events through the
// outbox.
//
// The numbered decisions in comments are those of docs/reference/sm4c-decisions.md.
//
// Ebb adds revert to calls, functions of type task, and resources; [Strict] refuses them. The package is pure: no
// clock, no I/O, no goroutine.
package sm4c
