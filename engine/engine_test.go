package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPrinted prints an engine, its plan and a result as texts for people.
func TestPrinted(t *testing.T) {
	t.Parallel()
	eng := newEngine(t, flow.Linear("f"))
	res, err := eng.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]any{
		`engine of flow "f"`: eng, `plan of flow "f"`: eng.Plan(), `run "r" of flow "f": SUCCESS`: res,
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := fmt.Sprint(*res); got != fmt.Sprint(res) {
		t.Errorf("a copy of the result prints %q", got)
	}
}

// TestEmptyFlows runs flows without atoms, alone and inside another flow. The run succeeds without warnings.
func TestEmptyFlows(t *testing.T) {
	t.Parallel()
	step := atom.Func("a", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	for name, root := range map[string]flow.Node{
		"linear": flow.Linear("f"), "unordered": flow.Unordered("f"), "graph": flow.Graph("f"),
		"inside": flow.Linear("f", flow.Linear("g"), step, flow.Unordered("h", flow.Graph("i"))),
	} {
		eng := newEngine(t, root)
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Run.State != states.FlowSuccess {
			t.Errorf("%s: %v, %v", name, res, err)
		}
		if len(eng.Plan().Warnings) > 0 {
			t.Errorf("%s: %q", name, eng.Plan().Warnings)
		}
	}
}

// TestStatesAreAtoms shows that a state machine is translated, not interpreted:
// each visit of a Task is a stored atom, a Parallel is subflows.
func TestStatesAreAtoms(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt":"One","States":{
		"One":{"Type":"Task","Resource":"do:one","Next":"Both"},
		"Both":{"Type":"Parallel","End":true,"Branches":[
			{"StartAt":"Two","States":{"Two":{"Type":"Task","Resource":"do:two","End":true}}},
			{"StartAt":"Three","States":{"Three":{"Type":"Task","Resource":"do:three","End":true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(&world{}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Output().String(); got != `["two","three"]` {
		t.Errorf("output %s", got)
	}
	atoms, err := eng.Store().Atoms(t.Context(), "r", storage.AtomQuery{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]storage.AtomKind{}
	for _, a := range atoms {
		if a.State != states.TaskSuccess {
			t.Errorf("%s is %v", a.Path, a.State)
		}
		got[a.Path] = a.Kind
	}
	want := map[string]storage.AtomKind{
		flow.GrowingPath: storage.KindFlow, "One": storage.KindTask, "Both": storage.KindFork,
		"Both[0]": storage.KindFlow, "Both[0]/Two": storage.KindTask,
		"Both[1]": storage.KindFlow, "Both[1]/Three": storage.KindTask,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("atoms (-want +got):\n%s", diff)
	}
}

// run runs a flow with at least one atom in virtual time.
func run(t *testing.T, node flow.Node, opts ...engine.Option) (res *engine.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		eng, newErr := engine.New(node, memstore.New(), opts...)
		if newErr != nil {
			t.Fatal(newErr)
		}
		res, err = eng.Run(t.Context(), "r")
	})
	return res, err
}

func TestFailuresOfTasks(t *testing.T) {
	t.Parallel()
	nothing := struct{}{}
	cases := []struct {
		name, code string
		task       *atom.Atom
	}{
		{"error", atom.CodeError, atom.Func("a", func(context.Context, struct{}) (struct{}, error) { return nothing, errors.New("no") })},
		{"code", "Card.Declined", atom.Func("a", func(context.Context, struct{}) (struct{}, error) {
			return nothing, atom.Errorf("Card.Declined", "no")
		})},
		{"panic", atom.CodePanic, atom.Func("a", func(context.Context, struct{}) (struct{}, error) { panic("no") })},
		{"timeout", atom.CodeTimeout, atom.Func("a", func(ctx context.Context, _ struct{}) (struct{}, error) {
			<-ctx.Done()
			return nothing, ctx.Err()
		}, atom.Timeout(time.Minute))},
		{"too large", atom.CodeTooLarge, atom.Func("a", func(context.Context, struct{}) (string, error) {
			return strings.Repeat("x", atom.MaxValue), nil
		})},
	}
	for _, c := range cases {
		for _, parallel := range []int{1, 4} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				res, err := run(t, c.task, engine.WithParallelism(parallel))
				failed, ok := errors.AsType[*engine.FailedError](err)
				if !ok || len(failed.Failures) != 1 || failed.Failures[0].Code != c.code {
					t.Fatalf("got %v; want a failure of code %s", err, c.code)
				}
				if res.Run.Undo != storage.UndoNone || res.Run.State != states.FlowFailure {
					t.Errorf("state %v, undo %v; nothing could be undone", res.Run.State, res.Run.Undo)
				}
				if c.code == atom.CodePanic && !strings.Contains(failed.Failures[0].Stack, "engine_test") {
					t.Errorf("the stack does not say where: %s", failed.Failures[0].Stack)
				}
			})
		}
	}
}

// TestTimedOutIsUnknown shows that the revert of an abandoned attempt is told that its outcome is unknown.
//
// Guarantee (G4): A revert receives "unknown" after a timeout, a lost token or a cancelled wait.
// Also: `TestDeferredTimes`, `TestCancelDeferred`.
func TestTimedOutIsUnknown(t *testing.T) {
	t.Parallel()
	var told atomic.Value
	task := atom.Pair("a",
		func(ctx context.Context, _ struct{}) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		func(_ context.Context, _ struct{}, did atom.Outcome[string]) error {
			told.Store(did.String())
			return nil
		},
		atom.Timeout(time.Second))
	_, err := run(t, task)
	if _, ok := errors.AsType[*engine.RevertedError](err); !ok || told.Load() != "unknown" {
		t.Errorf("ended with %v; revert was told %v", err, told.Load())
	}
}

// Guarantee (G4): After a failed revert, the undo stops, continues, or waits for an operator, by policy. The run ends
// FAILURE and says so.
// Also: `TestRevertFailsAndStops`, `TestRevertFailsAndGoesOn`, `TestRevertFailsAndParks`, `TestPolicyGrowing`.
func TestRevertFails(t *testing.T) {
	t.Parallel()
	stuck := atom.Pair("a",
		func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
		func(context.Context, struct{}, atom.Outcome[struct{}]) error { return atom.Errorf("Stuck", "cannot") })
	fails := atom.Func("b", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })
	store := memstore.New()
	for _, when := range []string{"at once", "after a reload"} {
		eng, err := engine.New(flow.Linear("f", stuck, fails), store)
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r")
		failed, ok := errors.AsType[*engine.FailedError](err)
		if !ok || !failed.UndoFailed || res.Run.Undo != storage.UndoFailed {
			t.Fatalf("%s: ended with %v, undo %v", when, err, res.Run.Undo)
		}
		if err.Error() != `engine: run "r" failed: b: Error: no; and could not be undone: a: Stuck: cannot` {
			t.Errorf("%s: %v", when, err)
		}
	}
}

// TestRetryWaits shows that a retry waits as its backoff says, in virtual time, and that the wait survives the process.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Duration
		begin := time.Now()
		failing := atom.Func("a", func(context.Context, struct{}) (struct{}, error) {
			tries = append(tries, time.Since(begin))
			return struct{}{}, errors.New("no")
		})
		f := flow.Linear("f", failing).WithRetry(atom.Times(3, atom.Exponential(time.Minute, time.Hour)))
		records := memstore.New()
		process := records.Join()
		ctx, stop := context.WithTimeout(t.Context(), 90*time.Second)
		defer stop()
		eng, err := engine.New(f, process)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
			t.Fatalf("stopped in the second wait: %v", err)
		}
		if err := process.Close(); err != nil {
			t.Fatal(err)
		}
		if eng, err = engine.New(f, records); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err == nil {
			t.Fatal("the run succeeded")
		}
		want := []time.Duration{0, time.Minute, 3 * time.Minute}
		if diff := cmp.Diff(want, tries); diff != "" {
			t.Errorf("tries (-want +got):\n%s", diff)
		}
	})
}

func TestSuspend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var eng *engine.Engine
		f := func() flow.Node {
			return flow.Linear("f",
				atom.Func("a", func(context.Context, struct{}) (struct{}, error) { eng.Suspend(); return struct{}{}, nil }),
				atom.Func("b", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }))
		}
		eng, err := engine.New(f(), store)
		if err != nil {
			t.Fatal(err)
		}
		res, err := eng.Run(t.Context(), "r")
		if !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold {
			t.Fatalf("got %v, hold %v", err, res.Run.Hold)
		}
		if eng, err = engine.New(f(), store); err != nil {
			t.Fatal(err)
		}
		if res, err = eng.Run(t.Context(), "r"); err != nil || res.Run.State != states.FlowSuccess || res.Run.Hold {
			t.Errorf("gone on: %v, %v, hold %v", res.Run.State, err, res.Run.Hold)
		}
	})
}

func TestOneOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		eng, err := engine.New(atom.Func("a", func(context.Context, struct{}) (struct{}, error) {
			time.Sleep(time.Minute) // virtual
			return struct{}{}, nil
		}), memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error)
		go func() {
			_, err := eng.Run(t.Context(), "r")
			first <- err
		}()
		synctest.Wait()
		_, err = eng.Run(t.Context(), "r")
		if _, ok := errors.AsType[*storage.OwnedError](err); !ok {
			t.Errorf("second owner: %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("first owner: %v", err)
		}
	})
}

func TestChangedFlow(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	f := atom.Func("a", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	for i, node := range []flow.Node{flow.Linear("f", f), flow.Linear("f", f, f.Renamed("b"))} {
		eng, err := engine.New(node, store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); errors.Is(err, engine.ErrChanged) != (i == 1) {
			t.Errorf("flow %d: %v", i, err)
		}
	}
}

// TestStop shows that a run whose context ends stops in the middle of an atom, writes nothing about the stop, and can
// be resumed.
//
// Guarantee (G10): A run whose process stops within an atom continues later. A suspended one stays so until it is run;
// others continue.
// Also: `TestHold`, `TestHoldWaits`, `TestSuspendUnowned`.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			calls := 0
			f := atom.Func("a", func(ctx context.Context, _ struct{}) (struct{}, error) {
				if calls++; calls == 1 {
					<-ctx.Done()
					return struct{}{}, ctx.Err()
				}
				return struct{}{}, nil
			})
			eng, err := engine.New(f, store, engine.WithParallelism(parallel))
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if _, err := eng.Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
				t.Fatalf("got %v; want it stopped", err)
			}
			atoms, err := store.Atoms(t.Context(), "r", storage.AtomQuery{})
			if err != nil || len(atoms) != 1 || atoms[0].State != states.TaskRunning {
				t.Errorf("left behind: %v (%v); want the atom RUNNING", atoms, err)
			}
			if res, err := eng.Run(t.Context(), "r"); err != nil || res.Run.State != states.FlowSuccess {
				t.Errorf("gone on: %v", err)
			}
		})
	}
}

// TestTaskAllocatesLittle runs a flow of many tasks in memory. A task costs less than one allocation, because nothing
// is allocated for features that it does not use.
func TestTaskAllocatesLittle(t *testing.T) { //nolint:paralleltest // counts the process's allocations
	const n = 1024
	store := memstore.New()
	eng, err := engine.New(flow.Linear("f", tasks(n, false)...), store)
	if err != nil {
		t.Fatal(err)
	}
	all := testing.AllocsPerRun(10, func() {
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Purge(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	})
	if each := all / n; each > 0.7 {
		t.Errorf("a task makes %.2f allocations", each)
	}
}
