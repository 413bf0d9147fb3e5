// Package jobs is the board on which work waits until a conductor claims it.
//
// A job asks for a run of a flow and is posted under an id. It waits, by priority and then by age, until a
// conductor claims it that has a free slot and offers what the job's labels ask for. The conductor creates the run.
// From that commit on, the job is bound to the run: a process that takes the run over after a crash takes the job
// with it, and the commit that ends the run ends the job. Therefore, no job is lost and no job is done twice, and
// no lease has to outlive a run that waits for weeks.
//
// Claims have leases for the short time between the claim and the creation of the run. Programs that use the board
// without runs, as a plain queue, also use leases: Claim, work, Renew meanwhile, Finish.
//
// If the flow of a job fails, the job ends or is parked with the failure: see the table of [engine.ForJob]. If the
// run cannot be started, because the flow does not exist or the input does not fit, the job is parked with the
// reason. An operator then decides.
package jobs
