// Package conductor is Ebb as a daemon: it claims the jobs of a board, makes the
// runs they want, and drives those and all others that are due, as many at once as
// it has slots. Any number of conductors serve one store; each run is driven by one
// of them.
//
//	catalog := conductor.NewCatalog().Add(2, checkout).Add(1, checkoutOfLastYear)
//	c, err := conductor.New(store, catalog, conductor.WithSlots(16), conductor.WithDrain(time.Minute))
//	if err != nil { … }
//	err = c.Run(ctx) // nil once ctx has ended and all that was driven has stopped
//
// A process that dies loses nothing: its runs are due to the others as soon as the
// store knows that it is dead. One that is told to stop begins nothing more, lets
// what executes end for as long as it may drain, and leaves its runs to the others;
// nothing is suspended, and nothing undone, because a process stops.
//
// What becomes of a job at each end of its run is the table of [engine.ForJob].
// What becomes of one whose run cannot be made:
//
//	the flow, or that version of it, is not known here    given back, to be tried later, and parked in the end
//	the input does not fit the flow                       PARKED, with what is wrong
//	there is a run of that id which is not the job's      PARKED
//	the store does not answer                             the claim runs out
package conductor
