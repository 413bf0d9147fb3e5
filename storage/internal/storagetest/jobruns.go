package storagetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// manyJobs is the number of runs that are created side by side for their own jobs.
const manyJobs = 40

func jobNo(i int) string { return fmt.Sprintf("r%02d", i) }

// forJob posts a job and returns the run that it asks for.
func forJob(t *testing.T, s backend.Store, i int) storage.Run {
	t.Helper()
	post(t, s, storage.Job{ID: jobNo(i), Run: jobNo(i), Created: at(0)})
	r := run(jobNo(i))
	r.Job = r.ID
	return r
}

// ofJob is a checkpoint that ends a job.
func ofJob(i int, state states.Job, failure *atom.Failure) backend.Checkpoint {
	return backend.Checkpoint{
		Head: backend.Head{State: states.FlowRunning, Failure: failure}, Job: &backend.JobEnd{
			Job: jobNo(i), State: state,
			Failure: failure,
		},
	}
}

func wantJob(t *testing.T, s backend.Store, i int, state states.Job) {
	t.Helper()
	if j, err := s.Job(t.Context(), jobNo(i)); err != nil || j.State != state || j.Failure != nil ||
		j.Ended.IsZero() == state.Ended() {
		t.Errorf("job %s is %+v, want %v: %v", jobNo(i), j, state, err)
	}
}

// testJobsOfNewRuns: runs that are created side by side get their jobs. The few runs that the store refuses delay none
// of the others.
func testJobsOfNewRuns(t *testing.T, m Maker) {
	s := m.open(t)
	fails := map[int]error{3: storage.ErrFenced, 17: storage.ErrNotFound}
	runs, errs := make([]storage.Run, manyJobs), make([]error, manyJobs)
	for i := range runs {
		runs[i] = forJob(t, s, i)
	}
	runs[3].ID, runs[17].Job = "unwanted", "nobody's"
	race(manyJobs, func(i int) { errs[i] = s.Create(t.Context(), runs[i]) })
	for i, err := range errs {
		want(t, "Create for job "+jobNo(i), err, fails[i])
		if fails[i] != nil {
			wantJob(t, s, i, states.JobUnclaimed)
		} else {
			wantJob(t, s, i, states.JobClaimed)
		}
	}
}

// testJobsOfManyRuns: runs that end side by side, some of them with their first commit, end their jobs. The few runs
// with exceptional jobs delay none of the others.
func testJobsOfManyRuns(t *testing.T, m Maker) {
	const foreign, parked, ended = 5, 18, 30
	s := m.open(t)
	pens, ends, errs := make([]*pen, manyJobs), make([]backend.Checkpoint, manyJobs), make([]error, manyJobs)
	for i := range pens {
		pens[i], ends[i] = newRun(t, s, forJob(t, s, i)), ofJob(i, states.JobComplete, nil)
		if i%2 == 0 || i == foreign {
			pens[i].write(t, backend.Checkpoint{Head: backend.Head{State: states.FlowRunning}})
		}
	}
	pens[parked].write(t, ofJob(parked, states.JobParked, &atom.Failure{Code: "Lost"}))
	pens[ended].write(t, ofJob(ended, states.JobComplete, nil))
	ends[foreign].Job.Job = jobNo(foreign - 1)
	race(manyJobs, func(i int) { errs[i] = pens[i].commit(t.Context(), pens[i].next(ends[i])) })
	for i, err := range errs {
		switch {
		case i != foreign:
			want(t, "the end of run "+jobNo(i), err, nil)
			wantJob(t, s, i, states.JobComplete)
		case !errors.Is(err, storage.ErrFenced):
			t.Errorf("a run ends a job that is not its own: %v", err)
		default:
			wantJob(t, s, i, states.JobClaimed)
		}
	}
}
