package engine

// ForJob binds the job with that id to the run, see [storage.Job]. The commit that creates the run binds the job.
// The commit that ends the run ends the job:
//
//	the run ends                                  the job
//	SUCCESS                                       COMPLETE
//	REVERTED, FAILURE                             COMPLETE, with the run's failure
//	FAILURE, because a revert failed              PARKED, with the run's failure
//	SUSPENDED, because an operator must decide    PARKED, with the run's failure
//	SUSPENDED, because an operator asked for it   stays bound to the run
//
// If the run of a parked job is resumed and ends, the job ends as in this table.
func ForJob(id string) RunOption { return forJob(id) }

type forJob string

func (j forJob) begin(b *beginning) error { b.run.Job = string(j); return nil }
