package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// A swelling says how a run grows.
type swelling struct {
	First  int `json:"first"`  // timers that it sets at its start
	More   int `json:"more"`   // timers that it sets after each second
	Rounds int `json:"rounds"` // seconds until its end
}

// swell is the flow that grows. It ends after its rounds, with or without open timers.
func swell() flow.Node {
	return flow.Growing("swell", lang(func(ask *grow.Ask) grow.Growth {
		var how swelling
		if err := ask.Run.Input.Decode(&how); err != nil {
			panic(err)
		}
		round, n := 0, how.First
		if ask.Cause.Kind != grow.Begin {
			_ = ask.Memory.Decode(&round)
			n = how.More
		}
		if round == how.Rounds {
			return done(round)
		}
		specs := []grow.Spec{work(fmt.Sprintf("second%d", round))}
		for i := range n {
			specs = append(specs, grow.Spec{Name: fmt.Sprintf("until%d.%d", round, i), Kind: grow.Timer, Due: ask.Now.Add(24 * time.Hour)})
		}
		return grow.Growth{Add: specs, Memory: atom.MustEncode(round + 1)}
	}))
}

type second struct{}

func (second) Task(string) (atom.Body, error) {
	return atom.Untyped("second", func(context.Context, atom.Values) (any, error) { time.Sleep(time.Second); return 0, nil }, nil).Body(), nil
}

// TestMemoryBudget: while the budget is reached, nothing is taken up, and driven runs continue. A growing run that has
// most of the memory is set aside with its job. It continues where there is more memory.
func TestMemoryBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const budget = 2000 * engine.OpenSize // a third of it is for 666 atoms
		store := memstore.New()
		var used atomic.Int64
		var log bytes.Buffer
		eng := newEngine(t, swell(), engine.WithStore(store), engine.WithTasks(second{}), engine.WithLimits(engine.Limits{Memory: budget}),
			engine.WithLogger(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Info})))
		eng.MeasureMemory(used.Load)
		start := func(id string, how swelling, opts ...engine.RunOption) {
			t.Helper()
			if err := eng.Start(t.Context(), id, append(opts, engine.Input(atom.MustEncode(how)))...); err != nil {
				t.Fatal(err)
			}
		}
		is := func(id string, want states.Flow) storage.Run {
			t.Helper()
			run, err := store.Run(t.Context(), id)
			if err != nil || run.State != want {
				t.Errorf("%s is %v (%v, %v), want %v", id, run.State, run.Failure, err, want)
			}
			return run
		}
		if err := store.PostJob(t.Context(), storage.Job{ID: "j", Run: "large"}); err != nil {
			t.Fatal(err)
		}
		start("large", swelling{More: 300, Rounds: 6}, engine.ForJob("j"))
		start("small", swelling{More: 20, Rounds: 10})
		start("still", swelling{First: 3000, Rounds: 10})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- eng.Serve(ctx) }()

		time.Sleep(2500 * time.Millisecond)
		used.Store(budget)
		time.Sleep(2 * time.Second)
		start("late", swelling{Rounds: 1})
		time.Sleep(10 * time.Second)
		aside := is("large", states.FlowSuspended)
		if why := aside.Failure; !aside.Hold || why == nil || why.Code != atom.CodeLimit || !strings.Contains(why.Message, "ebb --memory") {
			t.Errorf("it was set aside because of %v", why)
		}
		if j := jobOf(t, store); j.State != states.JobParked || j.Failure == nil || j.Failure.Code != atom.CodeLimit {
			t.Errorf("its job is %+v", j)
		}
		is("small", states.FlowSuccess)
		is("still", states.FlowSuccess)
		is("late", states.FlowPending)
		if m := eng.Memory(); m != (engine.Memory{Used: budget, Budget: budget, Exhausted: true}) {
			t.Errorf("memory is %+v", m)
		}
		used.Store(budget / 2)
		time.Sleep(3 * time.Second)
		is("late", states.FlowSuccess)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, what := range []string{"memory.exhausted", "memory.recovered", "run.set_aside"} {
			if n := strings.Count(log.String(), what); n != 1 {
				t.Errorf("%q is logged %d times", what, n)
			}
		}
		used.Store(budget)
		larger := newEngine(t, swell(), engine.WithStore(store), engine.WithTasks(second{}), engine.WithLimits(engine.Limits{Memory: budget * 4}))
		larger.MeasureMemory(used.Load)
		if _, err := larger.Run(t.Context(), "large"); err != nil {
			t.Error(err)
		}
		if j := jobOf(t, store); j.State != states.JobComplete {
			t.Errorf("its job is %+v", j)
		}
	})
}

// TestMemoryShared: while the budget is reached, one of the runs that together need most of it goes on. The others leave
// the memory, and continue when there is space.
func TestMemoryShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const budget = 2000 * engine.OpenSize // a third of it is for 666 atoms
		var used atomic.Int64
		eng := newEngine(t, swell(), engine.WithTasks(second{}), engine.WithLimits(engine.Limits{Memory: budget}))
		eng.MeasureMemory(used.Load)
		ids := []string{"a", "b", "c"}
		for _, id := range ids {
			how := swelling{More: 100, Rounds: 6}
			if err := eng.Start(t.Context(), id, engine.Input(atom.MustEncode(how))); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- eng.Serve(ctx) }()
		succeeded := func(want int) {
			t.Helper()
			n := 0
			for _, id := range ids {
				run, err := eng.Store().Run(t.Context(), id)
				if err != nil || run.State != states.FlowSuccess && (run.State != states.FlowRunning || run.Owner != "") {
					t.Errorf("%s is %v, owned by %q (%v)", id, run.State, run.Owner, err)
				}
				if run.State == states.FlowSuccess {
					n++
				}
			}
			if n != want {
				t.Errorf("%d runs have succeeded, want %d", n, want)
			}
		}
		time.Sleep(2500 * time.Millisecond)
		used.Store(budget)
		time.Sleep(20 * time.Second)
		succeeded(1)
		used.Store(0)
		time.Sleep(20 * time.Second)
		succeeded(3)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestNoMemoryBudget: without a budget, everything is taken up, at any memory use.
func TestNoMemoryBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		eng := newEngine(t, swell(), engine.WithTasks(second{}), engine.WithLimits(engine.Limits{Memory: -1}))
		eng.MeasureMemory(func() int64 { return 1 << 50 })
		if err := eng.Start(t.Context(), "r", engine.Input(atom.MustEncode(swelling{First: 1000, More: 1000, Rounds: 2}))); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		if err := eng.Serve(ctx); err != nil {
			t.Error(err)
		}
		if run, err := eng.Store().Run(t.Context(), "r"); err != nil || run.State != states.FlowSuccess {
			t.Errorf("it is %v (%v)", run.State, err)
		}
	})
}

// TestOpenSize measures the memory of open nodes and child flows. It is at least the size that they count against the
// budget, so a run's memory is not overestimated.
func TestOpenSize(t *testing.T) { //nolint:paralleltest // it measures the process
	longtest.Needs(t)
	const n = 30_000
	for name, c := range map[string]struct {
		open  int
		begin []grow.Spec
	}{
		"timers":                         {n, nil},
		"child flows, each with a timer": {2 * n, []grow.Spec{{Name: "f", Kind: grow.Fork, Group: &grow.Group{Count: n}}}},
	} {
		t.Run(name, func(t *testing.T) {
			waits := func(ask *grow.Ask, i int) grow.Spec {
				return grow.Spec{Name: fmt.Sprintf("t%d", i), Kind: grow.Timer, Due: ask.Now.Add(24 * time.Hour)}
			}
			root := flow.Growing("f", lang(func(ask *grow.Ask) grow.Growth {
				if ask.Index >= 0 {
					return add(waits(ask, 0))
				}
				if ask.Cause.Kind != grow.Begin {
					return grow.Growth{}
				}
				all := append([]grow.Spec{work("last")}, c.begin...) // called when everything exists
				for i := range n - len(c.begin)*n {
					all = append(all, waits(ask, i))
				}
				return add(all...)
			}))
			store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			}()
			waiting := make(chan struct{})
			tell := sync.OnceFunc(func() { close(waiting) })
			eng := newEngine(t, root, engine.WithStore(store), engine.WithLimits(engine.Limits{Memory: -1}), engine.WithTasks(told(tell)))
			before := live()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := eng.Run(ctx, "r")
				ended <- err
			}()
			select {
			case <-waiting:
			case err := <-ended:
				t.Fatal(err)
			}
			each := (live() - before) / int64(c.open)
			stop()
			if err := <-ended; !errors.Is(err, engine.ErrStopped) {
				t.Error(err)
			}
			t.Logf("%d bytes each", each)
			if each < engine.OpenSize || each > 8*engine.OpenSize {
				t.Errorf("each takes %d bytes, and counts %d", each, engine.OpenSize)
			}
		})
	}
}

// told is a task that reports its call and waits.
type told func()

func (tell told) Task(string) (atom.Body, error) {
	return atom.Untyped("told", func(ctx context.Context, _ atom.Values) (any, error) { tell(); <-ctx.Done(); return 0, ctx.Err() }, nil).Body(), nil
}

// live returns the number of live bytes.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
