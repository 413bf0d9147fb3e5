package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type order struct {
	N int `json:"n"`
}

// trip is a flow that calls do with the input of its job.
func trip(name string, do func(context.Context, int) error) flow.Node {
	return flow.Linear(name, atom.Func("book", func(ctx context.Context, in order) (int, error) {
		return in.N, do(ctx, in.N)
	}, atom.As("booked")))
}

func nothing(context.Context, int) error { return nil }

// serve lets a conductor serve for a duration.
func serve(t *testing.T, store backend.Store, catalog *conductor.Catalog, d time.Duration, opts ...engine.ServerOption) {
	t.Helper()
	serveBoard(t, jobs.New(store, jobs.Policy{}), catalog, d, opts...)
}

func serveBoard(t *testing.T, board *jobs.Board, catalog *conductor.Catalog, d time.Duration, opts ...engine.ServerOption) {
	t.Helper()
	c, err := conductor.New(board, catalog, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	if err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Ready(t.Context()); err == nil || err.Error() != "conductor: it is stopped" {
		t.Errorf("after its end it says %v", err)
	}
}

func post(t *testing.T, store backend.Store, list ...jobs.Job) {
	t.Helper()
	if _, err := jobs.New(store, jobs.Policy{}).Post(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
}

// wantJob compares a job's state and the code of its failure.
func wantJob(t *testing.T, store backend.Store, id string, state states.Job, code string) {
	t.Helper()
	j, err := store.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	if j.Failure != nil {
		got = j.Failure.Code
	}
	if j.State != state || got != code {
		t.Errorf("job %s is %v (%v), want %v %s", id, j.State, j.Failure, state, code)
	}
}

func wantRun(t *testing.T, store backend.Store, id string, state states.Flow) {
	t.Helper()
	if run, err := store.Run(t.Context(), id); err != nil || run.State != state {
		t.Errorf("run %s is %v, want %v (%v)", id, run.State, state, err)
	}
}

// TestJobs checks each possible end of a job.
func TestJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		post(t, store,
			jobs.Job{ID: "good", Flow: "trip", Input: order{N: 1}},
			jobs.Job{ID: "named", Flow: "trip", Run: "mine", Input: order{N: 1}},
			jobs.Job{ID: "bad", Flow: "trip", Input: order{N: -1}},
			jobs.Job{ID: "empty", Flow: "trip"},
			jobs.Job{ID: "odd", Flow: "trip", Input: 7},
			jobs.Job{ID: "unknown", Flow: "tour"},
			jobs.Job{ID: "version", Flow: "trip", Version: 9, Input: order{N: 1}},
			jobs.Job{ID: "gpu", Flow: "trip", Labels: map[string]string{"gpu": "yes"}, Input: order{N: 1}},
			jobs.Job{ID: "taken", Flow: "trip", Run: "other", Input: order{N: 1}},
		)
		if err := store.Create(t.Context(), storage.Run{ID: "other", Flow: "else"}); err != nil {
			t.Fatal(err)
		}
		catalog := conductor.NewCatalog().Add(1, trip("trip", func(_ context.Context, n int) error {
			if n < 0 {
				return atom.Errorf("Full", "no room")
			}
			return nil
		}))
		serveBoard(t, jobs.New(store, jobs.Policy{Attempts: 3}), catalog, 24*time.Hour)
		wantJob(t, store, "good", states.JobComplete, "")
		wantRun(t, store, "good", states.FlowSuccess)
		wantJob(t, store, "named", states.JobComplete, "")
		wantRun(t, store, "mine", states.FlowSuccess)
		wantJob(t, store, "bad", states.JobComplete, "Full")
		wantRun(t, store, "bad", states.FlowFailure)
		wantJob(t, store, "empty", states.JobParked, atom.CodeNoStart)
		wantJob(t, store, "odd", states.JobParked, atom.CodeNoStart)
		wantJob(t, store, "unknown", states.JobUnclaimed, "") // a job of another conductor
		wantJob(t, store, "version", states.JobParked, atom.CodeNoFlow)
		if job, err := store.Job(t.Context(), "version"); err != nil ||
			!strings.HasPrefix(job.Failure.Message, "conductor: version ") {
			t.Errorf("%v, %v", job.Failure, err)
		}
		wantJob(t, store, "gpu", states.JobUnclaimed, "")
		wantJob(t, store, "taken", states.JobParked, atom.CodeRunExists)

		serve(t, store, catalog, time.Hour, engine.WithOffers(map[string]string{"gpu": "yes"}))
		wantJob(t, store, "gpu", states.JobComplete, "")
		if run, err := store.Run(t.Context(), "gpu"); err != nil || run.Labels["needs.gpu"] != "yes" {
			t.Errorf("its run is labeled %v (%v)", run.Labels, err)
		}
	})
}

// TestLimitedJobs: jobs whose runs have no place get one after the other.
func TestLimitedJobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		if err := store.SetLimit(t.Context(), storage.Limit{Flow: "trip", Runs: 1}); err != nil {
			t.Fatal(err)
		}
		var now, most atomic.Int32
		for i := range 5 {
			post(t, store, jobs.Job{ID: fmt.Sprint(i), Flow: "trip", Input: order{N: i}})
		}
		serve(t, store, conductor.NewCatalog().Add(1, trip("trip", func(context.Context, int) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Minute)
			now.Add(-1)
			return nil
		})), time.Hour)
		for i := range 5 {
			wantJob(t, store, fmt.Sprint(i), states.JobComplete, "")
		}
		if most.Load() != 1 {
			t.Errorf("%d ran at once", most.Load())
		}
	})
}

// TestVersions: a run ends on the version on which it started, and jobs get the newest.
func TestVersions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var done [3]atomic.Int32
		of := func(v int) flow.Node {
			wait := func(ctx context.Context, _ int) error {
				done[v].Add(1)
				select {
				case <-time.After(time.Minute):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return flow.Linear("trip", atom.Func(fmt.Sprintf("v%d", v), func(ctx context.Context, in order) (int, error) {
				return in.N, wait(ctx, in.N)
			}, atom.As("booked")))
		}
		post(t, store, jobs.Job{ID: "a", Flow: "trip", Input: order{N: 1}})
		serve(t, store, conductor.NewCatalog().Add(1, of(1)), 30*time.Second, engine.WithDrain(0))
		wantRun(t, store, "a", states.FlowRunning)
		post(t, store, jobs.Job{ID: "b", Flow: "trip", Input: order{N: 1}}, jobs.Job{ID: "c", Flow: "trip", Version: 1, Input: order{N: 1}})
		serve(t, store, conductor.NewCatalog().Add(1, of(1)).Add(2, of(2)), time.Hour)
		for _, id := range []string{"a", "b", "c"} {
			wantJob(t, store, id, states.JobComplete, "")
		}
		if one, two := done[1].Load(), done[2].Load(); one != 3 || two != 1 { // a twice; c and b
			t.Errorf("version 1 was called %d times, version 2 %d times", one, two)
		}
	})
}

// TestTakeover: if a conductor dies, another one continues its runs and ends their jobs.
func TestTakeover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := memstore.New()
		second := first.Join()
		var calls atomic.Int32
		catalog := func() *conductor.Catalog {
			return conductor.NewCatalog().Add(1, trip("trip", func(ctx context.Context, _ int) error {
				if calls.Add(1) == 1 {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}))
		}
		post(t, first, jobs.Job{ID: "a", Flow: "trip", Input: order{N: 1}})
		c, err := conductor.New(jobs.New(first, jobs.Policy{}), catalog())
		if err != nil {
			t.Fatal(err)
		}
		died := make(chan error)
		go func() { died <- c.Run(t.Context()) }()
		synctest.Wait()
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		serve(t, second, catalog(), time.Minute)
		wantJob(t, second, "a", states.JobComplete, "")
		if err := <-died; !errors.Is(err, storage.ErrClosed) {
			t.Errorf("the first ended with %v", err)
		}
		if n := calls.Load(); n != 2 {
			t.Errorf("%d calls", n)
		}
	})
}

// TestSlots: no more runs are driven at once than there are slots, and none is forgotten.
func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var now, most atomic.Int32
		for i := range 20 {
			post(t, store, jobs.Job{ID: fmt.Sprint(i), Flow: "trip", Input: order{N: i}})
		}
		catalog := conductor.NewCatalog().Add(1, trip("trip", func(context.Context, int) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		}))
		serve(t, store, catalog, time.Hour, engine.WithSlots(3))
		for i := range 20 {
			wantJob(t, store, fmt.Sprint(i), states.JobComplete, "")
		}
		if most.Load() != 3 {
			t.Errorf("at most %d at once", most.Load())
		}
	})
}

// TestObserverPanics: a fault in one run ends neither the conductor nor another run.
func TestObserverPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		post(t, store, jobs.Job{ID: "a", Flow: "trip", Input: order{}}, jobs.Job{ID: "b", Flow: "trip", Input: order{}})
		var panicked atomic.Bool
		serve(t, store, conductor.NewCatalog().Add(1, trip("trip", nothing)), time.Hour,
			engine.WithEngine(engine.WithObserver(func(ev engine.Event) {
				if ev.Run == "a" && panicked.CompareAndSwap(false, true) {
					panic("I saw something")
				}
			})))
		wantJob(t, store, "a", states.JobComplete, "")
		wantJob(t, store, "b", states.JobComplete, "")
		if !panicked.Load() {
			t.Error("nothing panicked")
		}
	})
}

// TestBadCatalog: an invalid catalog is refused before a run starts.
func TestBadCatalog(t *testing.T) {
	t.Parallel()
	_, err := conductor.New(jobs.New(memstore.New(), jobs.Policy{}), conductor.NewCatalog().Add(0, trip("a", nothing)).Add(1, trip("b", nothing)).Add(1, trip("b", nothing)).
		Add(1, trip("..", nothing)))
	for _, want := range []string{`version 0 of flow "a"; want 1 or more`, `version 1 of flow "b" is in the catalog twice`, `".." cannot stand in a path`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// TestForeignRuns: runs of flows that this conductor does not know take no slot from its own runs.
//
// Guarantee (Jobs): Runs of unknown flows, or without their tasks, take no slot.
// Also: `TestUndrivable`.
func TestForeignRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		for i := range 10 {
			run := storage.Run{ID: fmt.Sprint("foreign-", i), Flow: "tour", Due: time.Now()}
			if err := store.Create(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
		post(t, store, jobs.Job{ID: "a", Flow: "trip", Input: order{}})
		serve(t, store, conductor.NewCatalog().Add(1, trip("trip", nothing)), 10*time.Second, engine.WithSlots(2))
		wantJob(t, store, "a", states.JobComplete, "")
		if run, err := store.Run(t.Context(), "foreign-0"); err != nil || run.Owner != "" || run.Due.IsZero() {
			t.Errorf("a foreign run is %+v (%v)", run, err)
		}
	})
}

// TestUndrivable: runs that this conductor cannot drive, for any reason, take no slot from other runs. The conductor
// retries them now and then.
func TestUndrivable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		for i := range 4 {
			if err := store.Create(t.Context(), storage.Run{ID: fmt.Sprint("lame-", i), Flow: "trip", Due: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		post(t, store, jobs.Job{ID: "a", Flow: "trip", Input: order{}})
		var tried atomic.Int32
		catalog := conductor.NewCatalog().Add(1, trip("trip", nothing)).TasksOf(func(run *storage.Run) (engine.Tasks, error) {
			if run.Job == "" && tried.Add(1) < 1000 { // otherwise it would be retried for ever
				return nil, errors.New("the folder is not there")
			}
			return nil, nil //nolint:nilnil // the engine's tasks
		})
		serve(t, store, catalog, 90*time.Second, engine.WithSlots(2))
		wantJob(t, store, "a", states.JobComplete, "")
		if n := tried.Load(); n != 8 {
			t.Errorf("four runs that cannot be driven were tried %d times within 90 s, want 8", n)
		}
	})
}

// TestNilLogger: a nil logger means no logger.
func TestNilLogger(t *testing.T) {
	t.Parallel()
	_, err := conductor.New(jobs.New(memstore.New(), jobs.Policy{}), conductor.NewCatalog(), engine.WithEngine(engine.WithLogger(nil)))
	if err == nil || !strings.Contains(err.Error(), "the logger is nil") {
		t.Errorf("it says %v", err)
	}
}
