// Package jobs is the board on which work waits until a conductor claims it.
//
// A job asks for a run of a flow. The job is posted under an id. It waits, by
// priority and then by age, until a conductor claims it that has a free slot and
// offers what the job's labels ask for. The conductor creates the run. From that
// commit on the job belongs to the run: a process that takes the run over after a
// crash takes the job with it, and the commit that ends the run ends the job. So no
// job is lost, and no job is done twice. No lease has to outlive a run that waits
// for weeks.
//
// Claims have leases only for the moment between claiming and making the run, and
// for programs that use the board without runs, as a plain queue: Claim, work, Renew
// meanwhile, Finish.
//
// What becomes of a job whose flow fails is never silence: see [engine.ForJob] for
// the table. What cannot even be begun (no such flow, an input that does not fit)
// is parked with the reason, for an operator to decide.
package jobs
