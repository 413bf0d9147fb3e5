//go:build unix

package conductor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A world has the effects of tasks outside of any store, by their keys.
type world struct {
	gate chan struct{} // until it is closed, the second step of each flow waits

	mu   sync.Mutex
	done map[string]int
	held int // tasks that wait at the gate
}

func newWorld() *world { return &world{gate: make(chan struct{}), done: map[string]int{}} }

func (w *world) do(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[key]++
}

// wait blocks a task until the gate is open, or its context ends.
func (w *world) wait(ctx context.Context) error {
	w.mu.Lock()
	w.held++
	w.mu.Unlock()
	select {
	case <-w.gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *world) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held
}

// keys returns the number of keys with effects, and the number of effects.
func (w *world) keys() (keys, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.done {
		times += n
	}
	return len(w.done), times
}

// A step has an effect on the world, and its revert removes the effect.
func (w *world) step(name string, before func(context.Context) error) *atom.Atom {
	return atom.Pair(name, func(ctx context.Context, in order) (int, error) {
		if err := before(ctx); err != nil {
			return 0, err
		}
		w.do(atom.IdempotencyKey(ctx))
		return in.N, nil
	}, func(ctx context.Context, _ order, _ atom.Outcome[int]) error {
		w.do(atom.RevertKey(ctx))
		return nil
	}, atom.As(name))
}

// tour has three steps, the second of which waits at the gate, and a fourth step that fails on request.
func tour(w *world) flow.Node {
	at := func(context.Context) error { return nil }
	return flow.Linear("tour", w.step("a", at), w.step("b", w.wait), w.step("c", at),
		atom.Func("last", func(ctx context.Context, in order) (int, error) {
			if in.N < 0 {
				return 0, atom.Errorf("Full", "no room")
			}
			w.do(atom.IdempotencyKey(ctx))
			return 0, nil
		}, atom.As("last")))
}

// A told is a log of a conductor and its store.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(text))
	return len(text), nil
}

// with returns the lines that contain a text.
func (l *told) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestPostgresRestarted stops a PostgreSQL server under two conductors in the middle of their work, and starts it again
// when both have noticed, or half a minute later. Both continue, the outage fails or undoes nothing, and no work is lost.
// The log of each has one line for the start of the outage and one for its end, however many runs met it.
//
// Guarantee (G10): Conductors survive a PostgreSQL that crashes and returns (`make soak-postgres`: after half a
// minute).
func TestPostgresRestarted(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.NewCluster(t)
	if _, err := sqlstore.Migrate(t.Context(), cluster.DSN()); err != nil {
		t.Fatal(err)
	}
	const conductors, slots, posted = 2, 8, 60
	w := newWorld()
	ctx, stop := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	defer serving.Wait()
	defer stop()
	var logs [conductors]told
	stores := make([]*sqlstore.Store, conductors)
	for i := range stores {
		log := hclog.New(&hclog.LoggerOptions{Output: &logs[i], Level: hclog.Info})
		store, err := sqlstore.Open(t.Context(), cluster.DSN(), sqlstore.Log(log))
		if err != nil {
			t.Fatal(err)
		}
		stores[i] = store
		c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, tour(w)), engine.WithSlots(slots),
			engine.WithEngine(engine.WithLogger(log)))
		if err != nil {
			t.Fatal(err)
		}
		serving.Go(func() {
			if err := errors.Join(c.Run(ctx), store.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range posted {
		n := i
		if i%5 == 0 {
			n = -1
		}
		post(t, stores[0], jobs.Job{ID: fmt.Sprint(i), Flow: "tour", Input: order{N: n}})
	}
	eventually(t, "all slots are taken", func() bool { return w.waiting() == conductors*slots })
	cluster.Stop()
	close(w.gate) // effects from now on cannot be recorded
	for i := range logs {
		eventually(t, "the conductors notice", func() bool { return stores[i].Health().Fault == "unreachable" })
	}
	if longtest.All() {
		time.Sleep(30 * time.Second)
	}
	cluster.Start()
	var left []storage.Job
	eventually(t, "all jobs end", func() bool {
		var err error
		left, err = stores[0].JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobUnclaimed, states.JobClaimed, states.JobScheduled, states.JobParked}})
		return err == nil && len(left) == 0
	})
	for i := range posted {
		want := states.FlowSuccess
		if i%5 == 0 {
			want = states.FlowReverted
		}
		wantRun(t, stores[0], fmt.Sprint(i), want)
	}
	for i := range logs {
		eventually(t, "the outage is over", func() bool {
			_, err := stores[i].Run(t.Context(), "0")
			return err == nil && stores[i].Health().Fault == ""
		})
		loud := append(logs[i].with("[ERROR]"), logs[i].with("store.available")...)
		if len(loud) != 2 || !strings.Contains(loud[0], "store.unavailable") {
			t.Errorf("the log of the outage: %q", loud)
		}
	}
	keys, times := w.keys()
	if want := 4*posted + posted/5*2; keys != want { // of a failed run: three steps, and their three reverts
		t.Errorf("something was done under %d keys, want %d", keys, want)
	}
	t.Logf("%d steps, done %d times", keys, times)
}
