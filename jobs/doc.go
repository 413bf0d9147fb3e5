// Package jobs is the board on which work waits until somebody has time for it.
//
// A job is the wish that a run of a flow be made. It is posted under an id, and
// waits, by priority and then by age, until a conductor claims it: one that has
// what the job's labels ask for, and a place free. The conductor makes the run,
// and from that commit on job and run are one: whoever takes the run over after a
// crash has the job with it, and the commit that ends the run ends the job. So no
// job is lost, none is done twice, and no lease has to outlive a run that waits for
// weeks.
//
// Claims have leases only for the moment between claiming and making the run, and
// for those who use the board without runs, as a plain queue: Claim, work, Renew
// meanwhile, Finish.
//
// What becomes of a job whose flow fails is never silence: see [engine.ForJob] for
// the table. What cannot even be begun (no such flow, an input that does not fit)
// is parked with the reason, for somebody to decide.
package jobs
