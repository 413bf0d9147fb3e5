package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/atom"
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
//	SUSPENDED, as somebody is to decide           PARKED, with the run's failure
//	SUSPENDED, as somebody wanted it so           stays the run's
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
	end := storage.JobEnd{Job: d.job, State: states.JobComplete, Failure: d.head.Failure}
	if d.over.FlowTo == states.FlowSuspended || d.head.Undo == storage.UndoFailed {
		end.State = states.JobParked
		if end.Failure == nil { // suspended on purpose
			return
		}
	}
	d.cp.Job = &end
}

// DefaultMaxLost is how often a run may be lost, see [WithMaxLost].
const DefaultMaxLost = 10

// WithMaxLost sets aside a run that [Engine.Serve] finds lost so many times: each
// time the process that drove it died, and the run has made no progress between.
// It is suspended, with a failure of [atom.CodeLost], until somebody runs it; its
// job is parked. n is at least 1.
func WithMaxLost(n int) Option {
	return option(func(e *Engine) error {
		if n < 1 {
			return fmt.Errorf("engine: a run may be lost %d times; want at least 1", n)
		}
		e.maxLost = int64(n)
		return nil
	})
}

// setAside suspends a run that is lost too often.
func (e *Engine) setAside(ctx context.Context, run *storage.Run) error {
	why := &atom.Failure{
		Code:    atom.CodeLost,
		Message: fmt.Sprintf("%d processes that drove the run died, one after the other, before it made any progress", run.Lost),
	}
	e.log.Error("a run is set aside", "run", run.ID, "why", why.Message)
	err := holdUnowned(ctx, e.store, run.ID, why)
	if _, owned := errors.AsType[*storage.OwnedError](err); owned || errors.Is(err, ErrRefused) {
		return nil // it goes on, or has ended, after all
	}
	return err
}
