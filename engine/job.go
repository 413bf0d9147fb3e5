package engine

import (
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

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

// endJob ends the run's job as the run's end, which the head has, says.
func (d *driver) endJob() {
	if d.job == "" {
		return
	}
	end := storage.JobEnd{Job: d.job, State: states.JobComplete, Failure: d.next.Head.Failure}
	if d.over.FlowTo == states.FlowSuspended || d.next.Head.Undo == storage.UndoFailed {
		end.State = states.JobParked
		if end.Failure == nil { // suspended on purpose
			return
		}
	}
	d.next.Job = &end
}
