// Package attempts holds the attempts of a run that others may end: parties with a token, signals, workers, child runs
// and the clock. It turns an end from outside into an event for the scheduler, and puts what others must know into the
// draft of the next checkpoint. It does no I/O.
package attempts
