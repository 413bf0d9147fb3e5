package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// onEachStore runs a test in virtual time on records in memory and on a SQLite file. join returns the store of another
// process.
func onEachStore(t *testing.T, test func(t *testing.T, join func() backend.Store)) {
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			records := memstore.New()
			test(t, func() backend.Store { return records.Join() })
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			crashdisk.Watch(t, dir) // for speed: it does not wait for the disk
			test(t, func() backend.Store {
				s, err := sqlstore.Open(t.Context(), filepath.Join(dir, "ebb.db"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
		})
	})
}

// A group counts concurrent executions, by flow and customer.
type group struct {
	mu        sync.Mutex
	now, most map[string]int
}

// A member is a process whose calls are counted until it dies.
type member struct {
	*group

	dead bool
	mine map[string]int
}

func (c *group) member() *member { return &member{group: c, mine: map[string]int{}} }

func (m *member) add(n int, keys ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if !m.dead {
			m.mine[key] += n
			m.now[key] += n
			m.most[key] = max(m.most[key], m.now[key])
		}
	}
}

func (m *member) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	for key, n := range m.mine {
		m.now[key] -= n
	}
}

var customerKey = atom.NewKey[string]("customer")

// flow returns a flow of a task that takes a minute, and a wait for a message.
func (m *member) flow(name string) flow.Node {
	type order struct {
		Customer string `json:"customer"`
	}
	do := atom.Func("do", func(ctx context.Context, in order) (struct{}, error) {
		keys := []string{name, name + " of " + in.Customer}
		m.add(1, keys...)
		defer m.add(-1, keys...)
		select {
		case <-time.After(time.Minute):
		case <-ctx.Done():
		}
		return struct{}{}, ctx.Err()
	})
	return flow.Linear(name, do, atom.Awaits[string]("wait", "go", atom.Deferral{}))
}

func (m *member) engine(t *testing.T, s backend.Store, name string) *engine.Engine {
	t.Helper()
	return newEngine(t, m.flow(name), engine.WithStore(s), engine.WithInputs(customerKey))
}

func (c *group) start(t *testing.T, s backend.Store, name, id, customer string) {
	t.Helper()
	err := c.member().engine(t, s, name).Start(t.Context(), id, engine.With(customerKey, customer), engine.Labels(map[string]string{"customer": customer}))
	if err != nil {
		t.Fatal(err)
	}
}

// waits reports whether a run waits for a message and has no owner.
func (c *group) waits(t *testing.T, s backend.Store, id string) bool {
	t.Helper()
	a, err := s.Atom(t.Context(), id, "wait")
	if errors.Is(err, storage.ErrNotFound) {
		return false
	}
	run, errRun := s.Run(t.Context(), id)
	if err := errors.Join(err, errRun); err != nil {
		t.Fatal(err)
	}
	return a.State == states.TaskRunning && run.Owner == ""
}

// TestLimits lets several processes serve runs under a limit. Other runs are not delayed. One of the processes dies
// with places taken. Runs that only wait take no place.
//
// Guarantee (G6): In memory and on SQLite, a limit holds over all engines of a database, also if one dies.
// Also: `storage/sqlstore: TestStore/Limits`, `TestStore/LimitsOfClaims`, `TestStore/LimitsDue`.
func TestLimits(t *testing.T) {
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		c := &group{now: map[string]int{}, most: map[string]int{}}
		outside := join()
		for _, l := range []storage.Limit{{Flow: "order", Runs: 3}, {Flow: "order", Label: "customer", Runs: 1}} {
			if err := outside.SetLimit(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		const runs, customers = 12, 4
		for i := range runs {
			c.start(t, outside, "order", fmt.Sprint("order ", i), fmt.Sprint(i%customers))
		}
		c.start(t, outside, "other", "other", "1") // the last that is due
		var served sync.WaitGroup
		serve := func(ctx context.Context, s backend.Store) *member {
			m := c.member()
			for _, name := range []string{"order", "other"} {
				served.Go(func() {
					if err := m.engine(t, s, name).Serve(ctx); err != nil && !errors.Is(err, storage.ErrClosed) {
						t.Error(err)
					}
				})
			}
			return m
		}
		ctx, stop := context.WithCancel(t.Context())
		defer served.Wait()
		defer stop()
		serve(ctx, join())
		mortal, die := context.WithCancel(t.Context())
		second := join()
		dies := serve(mortal, second)

		time.Sleep(90 * time.Second) // in the middle of the second runs
		die()
		dies.die()
		if err := second.Close(); err != nil {
			t.Error(err)
		}
		if !c.waits(t, outside, "other") {
			t.Error("one that no limit counts was held up")
		}
		for i, begun := 0, time.Now(); i < runs; {
			switch {
			case c.waits(t, outside, fmt.Sprint("order ", i)):
				i++
			case time.Since(begun) > time.Hour:
				t.Fatalf("order %d does not come to wait", i)
			default:
				time.Sleep(time.Second)
			}
		}
		want := map[string]int{"order": 3, "other": 1, "other of 1": 1}
		for i := range customers {
			want[fmt.Sprint("order of ", i)] = 1
		}
		if diff := cmp.Diff(want, c.most); diff != "" {
			t.Errorf("executed at once (-want +got):\n%s", diff)
		}
	})
}

// TestRunWaitsForItsPlace: Run waits while another run has the place. A command does not wait.
func TestRunWaitsForItsPlace(t *testing.T) {
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := &stage{do: script{"slow": func(context.Context, int) error { time.Sleep(4 * time.Minute); return nil }}}
		store := join()
		if err := store.SetLimit(t.Context(), storage.Limit{Runs: 1}); err != nil {
			t.Fatal(err)
		}
		slow := newEngine(t, flow.Linear("slow", s.atom("slow")), engine.WithStore(store))
		quick := newEngine(t, flow.Linear("quick", s.atom("quick")), engine.WithStore(store))
		go func() {
			if _, err := slow.Run(t.Context(), "slow"); err != nil {
				t.Error(err)
			}
		}()
		begun := time.Now()
		time.Sleep(time.Minute)
		if _, err := quick.Run(t.Context(), "unloaded", engine.Unload()); !errors.Is(err, storage.ErrLimited) {
			t.Errorf("it does not say that there is no place: %v", err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		if _, err := quick.Run(ctx, "quick"); !errors.Is(err, engine.ErrStopped) {
			t.Errorf("it was stopped while it waited: %v", err)
		}
		stop()
		if _, err := quick.Command(t.Context(), "unloaded", engine.Abandon("")); err == nil || time.Since(begun) > 3*time.Minute {
			t.Errorf("a command waited for a place: %v", err)
		}
		if _, err := quick.Run(t.Context(), "quick"); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < 4*time.Minute || took > 4*time.Minute+time.Second {
			t.Errorf("it had its place after %v", took)
		}
	})
}

// TestRunsWaitInOrder lets runs of one engine wait for one place. They get it in order of arrival. Runs that wait for
// another place are not delayed. Each run says what it waits for.
//
// Guarantee (G6): Runs of an engine start in order of arrival, and say what they wait for.
// Also: `cmd/ebb: TestScripts/limit`.
func TestRunsWaitInOrder(t *testing.T) {
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		store := join()
		for _, l := range []storage.Limit{{Flow: "f", Label: "customer", Runs: 1}} {
			if err := store.SetLimit(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
		began, awaited := &box[string]{}, &box[string]{}
		slow := atom.Func("slow", func(ctx context.Context, _ struct{}) (struct{}, error) {
			began.put(atom.CurrentCall(ctx).Run)
			time.Sleep(time.Minute)
			return struct{}{}, nil
		})
		eng := newEngine(t, flow.Linear("f", slow), engine.WithStore(store), engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.PlaceAwaited {
				awaited.put(ev.Run + ": " + ev.Name)
			}
		}))
		var all sync.WaitGroup
		run := func(id, customer string) {
			all.Go(func() {
				if _, err := eng.Run(t.Context(), id, engine.Labels(map[string]string{"customer": customer})); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
		}
		var want, waited []string
		for i := range 6 {
			id := fmt.Sprint("ann ", 9-i)
			run(id, "ann")
			want = append(want, id)
			if i > 0 {
				waited = append(waited, id+`: at most 1 at once of f with the same customer, which is "ann"`)
			}
		}
		run("bob", "bob")
		all.Wait()
		want = slices.Insert(want, 1, "bob")
		if diff := cmp.Diff(want, began.list); diff != "" {
			t.Errorf("began (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(waited, awaited.list); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	})
}
