package storagetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// testJobsOfManyRuns: runs that are made side by side, and end so, take their jobs
// with them; those few whose jobs are exceptions hold up none of the others.
func testJobsOfManyRuns(t *testing.T, m Maker) {
	const (
		all = 40
		// The exceptions: of what a run is made for, and of what its end finds.
		unwanted, missing      = 3, 17
		foreign, parked, ended = 5, 18, 30
	)
	s := m.open(t)
	id := func(i int) string { return fmt.Sprintf("r%02d", i) }
	for i := range all {
		post(t, s, storage.Job{ID: id(i), Run: id(i), Created: at(0)})
	}
	errs := make([]error, all)
	race(all, func(i int) {
		r := run(id(i))
		r.Job = id(i)
		switch i {
		case unwanted:
			r.ID = "other"
		case missing:
			r.Job = "nobody's"
		}
		errs[i] = s.Create(t.Context(), r)
	})
	for i, err := range errs {
		want(t, "Create "+id(i), err, map[int]error{unwanted: storage.ErrFenced, missing: storage.ErrNotFound}[i])
	}
	claims := make([]*pen, all)
	over := func(i int, state states.Job, failure *atom.Failure) storage.Checkpoint {
		return storage.Checkpoint{
			Head: storage.Head{State: states.FlowRunning, Failure: failure}, Job: &storage.JobEnd{Job: id(i), State: state, Failure: failure},
		}
	}
	for i := range all {
		if i == unwanted || i == missing {
			continue
		}
		claims[i] = begin(t, s, id(i))
		switch i {
		case parked:
			claims[i].write(t, over(i, states.JobParked, &atom.Failure{Code: "Lost"}))
		case ended:
			claims[i].write(t, over(i, states.JobComplete, nil))
		}
	}
	race(all, func(i int) {
		p := claims[i]
		if p == nil {
			return
		}
		of := i
		if i == foreign {
			of = unwanted
		}
		errs[i] = p.commit(t.Context(), p.next(over(of, states.JobComplete, nil)))
	})
	for i := range all {
		j, err := s.Job(t.Context(), id(i))
		must(t, "Job", err)
		switch i {
		case unwanted, missing:
			if j.State != states.JobUnclaimed {
				t.Errorf("job %s of no run is %v", j.ID, j.State)
			}
		case foreign:
			if !errors.Is(errs[i], storage.ErrFenced) || j.State != states.JobClaimed {
				t.Errorf("a run ends a job that is not its own: %v; its own is %v", errs[i], j.State)
			}
		default:
			if errs[i] != nil || j.State != states.JobComplete || j.Failure != nil || j.Ended.IsZero() {
				t.Errorf("the end of run %s: %v; its job is %+v", id(i), errs[i], j)
			}
		}
	}
}
