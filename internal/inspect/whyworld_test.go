package inspect_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A world is a store, and what happens around it.
type world struct {
	*testing.T

	store  *memstore.Store
	asks   backend.Store // of the one who asks
	behind time.Duration // how far the clock of the one who asks is behind
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) engine(root flow.Node, opts ...engine.Option) *engine.Engine {
	w.Helper()
	e, err := engine.New(root, w.store, opts...)
	w.must(err)
	return e
}

// serve serves a flow until the end of the test, and returns a function that stops it earlier.
func (w *world) serve(e *engine.Engine, opts ...engine.ServerOption) (stop func()) {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, opts...) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
	w.Cleanup(stop)
	synctest.Wait()
	return stop
}

// begun serves a flow, starts the run "x" of it, and waits a second. It returns a function that ends the process.
func (w *world) begun(root flow.Node) (stop func()) {
	w.Helper()
	e := w.engine(root)
	stop = w.serve(e)
	w.must(e.Start(w.Context(), "x"))
	w.wait(time.Second)
	return stop
}

func (w *world) board() *jobs.Board { return jobs.New(w.store, jobs.Policy{}) }

// schedule adds the schedule "x".
func (w *world) schedule() {
	w.Helper()
	w.must(w.board().AddSchedule(w.Context(), jobs.Schedule{ID: "x", Spec: "@hourly", Job: jobs.Job{Flow: "order"}}))
}

// wait lets virtual time pass.
func (w *world) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// post posts the job "x" of the flow "order".
func (w *world) post(change ...func(*storage.Job)) {
	w.Helper()
	job := storage.Job{ID: "x", Run: "x", Flow: "order", Created: time.Now()}
	for _, f := range change {
		f(&job)
	}
	w.must(w.store.PostJob(w.Context(), job))
}

// claimant is a server that claims jobs of the flow "order", but finds none.
func (w *world) claimant() {
	w.Helper()
	none := func(context.Context, int) ([]engine.NewRun, error) { return nil, nil }
	w.serve(w.engine(orders()), engine.WithSource(none))
}

// stopped shows a store whose processes were stopped.
type stopped struct{ backend.Store }

func (s stopped) Owners(ctx context.Context) ([]storage.Owner, error) {
	owners, err := s.Store.Owners(ctx)
	for i := range owners {
		owners[i].Stopped = true
	}
	return owners, err
}

// standby shows a store whose database nobody can write.
type standby struct{ backend.Store }

func (standby) Barred(context.Context) (string, error) {
	return "the server is a standby (pg_is_in_recovery)", nil
}
