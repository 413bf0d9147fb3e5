// Package sm4c runs SM4C, State Machines For Cloud: it compiles a definition into
// a [Machine], which is a [flow.Language], so a state machine is a flow that grows
// while it runs.
//
//	m, err := sm4c.Parse("trip.sm4c.json", text)
//	if err != nil {
//		return err // every problem at once: trip.sm4c.json:12:9: state "Pay": nextState "Shipp" …
//	}
//	run(m.Flow())
//
// # What becomes of a definition
//
// A call is an atom, named after where it stands: HotelReserved/enter, or by its
// own name HotelReserved/book; the second one of a name is …#2. A delay, and the
// time of a transition, is a timer. A parallel or foreach action is a group of
// flows, Trip/enter/parallel[1]. A subflow is a run of its own, as is a call that
// is not waited for. What only computes happens within an answer.
//
// What the machine remembers, its data, keys and inbox included, is the memory of
// the run's own flow. An event is put there, or consumed by a transition, in the
// commit that takes its message. Events are sent through the outbox.
//
// Ebb adds revert to calls, functions of type task, and resources; [Strict]
// refuses them. The package is pure: no clock, no I/O, no goroutine.
package sm4c
