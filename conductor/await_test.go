package conductor_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestAwait: who posted a job learns how it ended, also if it has no run yet, or needs a person.
func TestAwait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		stuck := flow.Linear("stuck", atom.Pair("book",
			func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { return errors.New("not now") },
			atom.IfRevertFails(atom.Park)), atom.Func("pay",
			func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("declined") }))
		catalog := conductor.NewCatalog().Add(1, trip("works", nothing)).Add(1, stuck).
			Add(1, trip("fails", func(context.Context, int) error { return atom.Errorf("Declined", "no") })).
			Add(1, trip("sleeps", func(context.Context, int) error { time.Sleep(5 * time.Second); return nil }))
		in := order{1}
		post(t, store, jobs.Job{ID: "works", Flow: "works", Input: in}, jobs.Job{ID: "fails", Flow: "fails", Input: in},
			jobs.Job{ID: "stuck", Flow: "stuck"}, jobs.Job{ID: "sleeps", Flow: "sleeps", Input: in},
			jobs.Job{ID: "later", Flow: "works", Input: in, NotBefore: time.Now().Add(10 * time.Second)},
			jobs.Job{ID: "unknown", Flow: "unknown"})
		board := jobs.New(store, jobs.Policy{})
		begun, ended := time.Now(), make(chan struct{})
		go func() {
			defer close(ended)
			for _, c := range []struct {
				id    string
				state states.Job
				code  string
				most  time.Duration
			}{
				{"works", states.JobComplete, "", time.Second},
				{"fails", states.JobComplete, "Declined", 2 * time.Second},
				{"stuck", states.JobParked, atom.CodeError, 3 * time.Second},
				{"sleeps", states.JobComplete, "", 6 * time.Second},
				{"later", states.JobComplete, "", 11 * time.Second},
			} {
				job, err := board.Await(t.Context(), c.id)
				code := ""
				if job.Failure != nil {
					code = job.Failure.Code
				}
				if took := time.Since(begun); err != nil || job.State != c.state || code != c.code || took > c.most {
					t.Errorf("%s: %v %v after %v, %v", c.id, job.State, job.Failure, took, err)
				}
			}
		}()
		synctest.Wait()
		serve(t, store, catalog, time.Minute)
		<-ended
		if _, err := board.Await(t.Context(), "none"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("no such job: %v", err)
		}
		short, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		if _, err := board.Await(short, "unknown"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a job of a flow that no conductor has: %v", err)
		}
		wantJob(t, store, "unknown", states.JobUnclaimed, "")
	})
}
