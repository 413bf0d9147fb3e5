// Package conductor runs Ebb as a daemon. A conductor claims the jobs of a board and creates their runs. It drives
// these and all other due runs, as many at the same time as it has slots. Any number of conductors may serve one store;
// one of them drives each run.
//
//	catalog := conductor.NewCatalog().Add(2, checkout).Add(1, checkoutOfLastYear)
//	c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog, engine.WithSlots(16), engine.WithDrain(time.Minute))
//	if err != nil { … }
//	err = c.Run(ctx) // nil once ctx has ended and all runs have stopped
//
// If a process dies, its runs are due for the other processes as soon as the store notices the death. If a process
// is told to stop, it starts nothing more, lets running atoms end within the drain time, and leaves its runs to the
// others. A stop neither suspends nor undoes a run.
//
// [engine.ForJob] lists how a job ends with its run. If the run cannot be created, the job changes as follows:
//
//	the conductor does not know the flow or its version   released, retried later, and finally parked
//	the input does not fit the flow                       PARKED, with the reason
//	a run with that id exists and is not the job's        PARKED
//	the store does not answer                             the claim expires
package conductor
