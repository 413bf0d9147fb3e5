package conductor_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// flaky returns a store whose calls all fail while it is down.
func flaky(s backend.Store) (backend.Store, *atomic.Bool) {
	down := new(atomic.Bool)
	return faultstore.New(s, func(faultstore.Call) faultstore.Fault {
		if down.Load() {
			return faultstore.Fault{Err: errors.New("connection refused")}
		}
		return faultstore.Fault{}
	}), down
}

// TestOutage: a store that is down for a while stops the runs, but fails and reverts none. When it is up, all runs
// continue.
//
// Guarantee (Jobs): A store outage ends no run or conductor, and one error parks no job. An unreleased run continues
// later.
// Also: `TestOneErrorOfStore`, `engine: TestGivenBackLater`.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		records := memstore.New()
		store, down := flaky(records)
		post(t, records,
			jobs.Job{ID: "a", Flow: "trip", Input: order{}}, jobs.Job{ID: "b", Flow: "trip", Input: order{}, NotBefore: time.Now().Add(10 * time.Minute)})
		catalog := conductor.NewCatalog().Add(1, trip("trip", func(context.Context, int) error { time.Sleep(time.Minute); return nil }))
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), catalog)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(30 * time.Second)
		down.Store(true)
		time.Sleep(5 * time.Minute)
		if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("without a store it is ready: %v", err)
		}
		down.Store(false)
		time.Sleep(time.Hour)
		if err := c.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		wantJob(t, records, "a", states.JobComplete, "")
		wantRun(t, records, "a", states.FlowSuccess)
		wantJob(t, records, "b", states.JobComplete, "")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestOneErrorOfStore: a store that fails once, at any call, parks no job.
func TestOneErrorOfStore(t *testing.T) {
	t.Parallel()
	const calls = 12 // the calls that a job takes, and some more
	for n := range calls {
		synctest.Test(t, func(t *testing.T) {
			records := memstore.New()
			var made int
			var failed faultstore.Call
			store := faultstore.New(records, func(c faultstore.Call) (f faultstore.Fault) {
				if made++; made == n+1 {
					failed, f.Err = c, errors.New("connection reset")
				}
				return f
			})
			if _, err := records.PutDefinition(t.Context(), storage.Definition{Hash: "h", Name: "trip", Language: "toy"}); err != nil {
				t.Fatal(err)
			}
			catalog := conductor.NewCatalog().Language("toy", func(_ context.Context, def storage.Definition) (flow.Node, error) {
				return trip(def.Name, nothing), nil
			})
			post(t, records, jobs.Job{ID: "a", Flow: "trip", Input: order{}})
			serve(t, store, catalog, 10*time.Minute, engine.WithSlots(1))
			if j, err := records.Job(t.Context(), "a"); err != nil || j.State != states.JobComplete {
				t.Errorf("%s failed once, and the job is %v, %v (%v)", failed.Method, j.State, j.Failure, err)
			}
		})
	}
}

// TestHealth probes a conductor as a supervisor would.
func TestHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, down := flaky(memstore.New())
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, trip("trip", nothing)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.New(server.Options{})
		if err != nil {
			t.Fatal(err)
		}
		health := server.Paths(map[string]http.Handler{"/livez": server.Live(), "/readyz": s.Ready(c.Ready)})
		want := func(path string, status int, text string) {
			t.Helper()
			w := httptest.NewRecorder()
			health.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
			body, _ := io.ReadAll(w.Body)
			if w.Code != status || !strings.Contains(string(body), text) {
				t.Errorf("%s: %d %q, want %d %q", path, w.Code, body, status, text)
			}
		}
		want("/livez", http.StatusOK, "ok")
		want("/readyz", http.StatusServiceUnavailable, "not ready\n")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		want("/readyz", http.StatusOK, "ok")
		down.Store(true)
		want("/readyz", http.StatusServiceUnavailable, "not ready\n")
		if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("Ready says %v", err)
		}
		down.Store(false)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want("/readyz", http.StatusServiceUnavailable, "not ready\n")
		if err := c.Run(t.Context()); err == nil {
			t.Error("it ran twice")
		}
	})
}

// TestReadyAsksOnce: simultaneous probes of a conductor's readiness ask its store once.
//
// Attack (HTTP server): Very many requests for `/readyz`.
// Result: Bounded: simultaneous ones share one query.
func TestReadyAsksOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		slow := faultstore.New(memstore.New(), func(call faultstore.Call) (f faultstore.Fault) {
			if call.Method == "Run" && call.Run == "ebb-ready" {
				asked.Add(1)
				f.Delay = time.Second
			}
			return f
		})
		c, err := conductor.New(jobs.New(slow, jobs.Policy{}), conductor.NewCatalog())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := c.Ready(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
