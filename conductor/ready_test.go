package conductor_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A stuckStore cannot be written while it is stuck.
type stuckStore struct {
	backend.Store

	stuck atomic.Bool
	asked atomic.Int64
}

func (s *stuckStore) CheckWrite(ctx context.Context) error {
	s.asked.Add(1)
	if !s.stuck.Load() {
		return nil
	}
	<-ctx.Done()
	return errors.Join(ctx.Err(), errors.New("process 4711 has the turn"))
}

// TestReadyWrites: a conductor whose store cannot be written is not ready, and gives the reason. Any number of probes
// ask the store once in a second.
func TestReadyWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &stuckStore{Store: memstore.New()}
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog())
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		synctest.Wait()
		answers := make(chan error)
		for range 100 {
			go func() { answers <- c.Ready(t.Context()) }()
		}
		for range 100 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if n := store.asked.Load(); n != 1 {
			t.Errorf("the store was asked %d times", n)
		}
		time.Sleep(time.Second)
		store.stuck.Store(true)
		given, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := c.Ready(given); err == nil || !strings.Contains(err.Error(), "process 4711 has the turn") {
			t.Errorf("with a store that cannot be written it says %v", err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it answers after %v", took)
		}
		time.Sleep(time.Second)
		store.stuck.Store(false)
		if err := c.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestReadyMemory: a conductor whose memory budget is reached is not ready and claims no job.
// It gives the reason only to a client that asks for it.
func TestReadyMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, trip("trip", nothing)),
			engine.WithEngine(engine.WithLimits(engine.Limits{Memory: 1})))
		if err != nil {
			t.Fatal(err)
		}
		post(t, store, jobs.Job{ID: "j", Flow: "trip", Input: order{N: 1}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(time.Minute)
		if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "the memory budget of 1 bytes is reached") {
			t.Errorf("it says %v", err)
		}
		s, err := server.New(server.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.Ready(c.Ready).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		if w.Code != http.StatusServiceUnavailable || w.Body.String() != "not ready\n" {
			t.Errorf("it answers %d %q", w.Code, w.Body)
		}
		wantJob(t, store, "j", states.JobUnclaimed, "")
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
