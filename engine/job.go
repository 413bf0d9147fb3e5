package engine

// ForJob makes the run the one that a job wants, see [storage.Job]: in the commit
// that makes the run the job becomes the run's, and in the commit that ends the
// run it ends:
//
//	the run ends                                  the job
//	SUCCESS                                       COMPLETE
//	REVERTED, FAILURE                             COMPLETE, with the run's failure
//	FAILURE, as something could not be undone     PARKED, with the run's failure
//	SUSPENDED, as an operator must decide         PARKED, with the run's failure
//	SUSPENDED, as an operator asked for it        stays the run's
//
// A parked job ends like any other when its run goes on and ends.
func ForJob(id string) RunOption { return forJob(id) }

type forJob string

func (j forJob) begin(b *beginning) error { b.run.Job = string(j); return nil }
