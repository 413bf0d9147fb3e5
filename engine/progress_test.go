package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// counted is a store that counts commits.
type counted struct {
	backend.Store
	commits int
}

func (c *counted) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	c.commits++
	return c.Store.Commit(ctx, claim, cp)
}

// reporting is a task that sends the given reports.
func reporting(name string, do func(ctx context.Context) error, undo func(ctx context.Context) error) *atom.Atom {
	return atom.Pair(name,
		func(ctx context.Context, _ struct{}) (struct{}, error) { return struct{}{}, do(ctx) },
		func(ctx context.Context, _ struct{}, _ atom.Outcome[struct{}]) error { return undo(ctx) })
}

func nothing(context.Context) error { return nil }

// stored returns the committed record of an atom of the run r.
func stored(t *testing.T, s backend.Store, path string) storage.Atom {
	t.Helper()
	a, err := s.Atom(t.Context(), "r", path)
	if err != nil {
		t.Error(err)
	}
	return a
}

// TestProgress: reports are committed within a second, many at once, and passed to observers, both for an atom that is
// called alone on the goroutine of Run and for one beside others.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 4} {
		t.Run(fmt.Sprint(parallel, " at once"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { testProgress(t, parallel) })
		})
	}
}

func testProgress(t *testing.T, parallel int) {
	store := &counted{Store: memstore.New()}
	check := func(want float64, details string) {
		t.Helper()
		if a := stored(t, store, "a"); a.Progress != want || a.Details.String() != details {
			t.Errorf("stored: %v %s, want %v %s", a.Progress, a.Details, want, details)
		}
	}
	work := func(ctx context.Context) error {
		check(0, "")
		before := store.commits
		for i := range 1000 {
			atom.Progress(ctx, float64(i)/2000, map[string]int{"row": i})
		}
		check(0, "")
		time.Sleep(time.Second + time.Millisecond)
		check(0.4995, `{"row":999}`)
		if n := store.commits - before; n != 1 {
			t.Errorf("%d commits for 1000 reports", n)
		}
		atom.Progress(ctx, 7, nil)
		time.Sleep(2 * time.Second)
		check(1, `{"row":999}`)
		atom.Progress(ctx, math.NaN(), "last") // shares the commit of the attempt's end
		return nil
	}
	beside := reporting("b", func(context.Context) error { time.Sleep(time.Hour); return errors.New("no") }, nothing)
	undo := func(ctx context.Context) error {
		check(0, `"last"`)
		atom.Progress(ctx, 0.5, nil)
		time.Sleep(2 * time.Second)
		check(0.5, `"last"`)
		return nil
	}
	var told []string
	eng, err := engine.New(flow.Unordered("f", reporting("a", work, undo), beside), store,
		engine.WithParallelism(parallel), engine.WithObserver(func(ev engine.Event) {
			if ev.Kind == engine.ProgressMade {
				told = append(told, fmt.Sprintf("%s %v %s", ev.Path, ev.Progress, ev.Details))
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.RevertedError)) {
		t.Fatal(err)
	}
	check(1, `"last"`)
	want := []string{`a 0.4995 {"row":999}`, `a 1 {"row":999}`, `a 0 "last"`, `a 0.5 "last"`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestProgressOfGrownAtoms is TestProgress for atoms of a language.
func TestProgressOfGrownAtoms(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("m", []byte(`{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"exec:a","End":true}}},
		{"StartAt":"B","States":{"B":{"Type":"Task","Resource":"exec:b","End":true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		eng, err := engine.New(m.Flow(), store, engine.WithTasks(reportingTasks{t, store}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		for path, took := range map[string]time.Duration{"P": 2 * time.Second, "P[0]": 2 * time.Second, "P[1]/B": 2 * time.Second} {
			a := stored(t, store, path)
			if a.EndedAt.Sub(a.StartedAt) != took || a.Progress != 1 {
				t.Errorf("%s took %v, progress %v", path, a.EndedAt.Sub(a.StartedAt), a.Progress)
			}
		}
	})
}

type reportingTasks struct {
	t     *testing.T
	store backend.Store
}

func (r reportingTasks) Task(string) (atom.Body, error) { return reportingTask{r}, nil }

type reportingTask struct{ reportingTasks }

func (r reportingTask) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	atom.Progress(ctx, 0.25, "a quarter")
	time.Sleep(2 * time.Second)
	if a := stored(r.t, r.store, atom.CurrentCall(ctx).Path); a.Progress != 0.25 || a.Details.String() != `"a quarter"` { //nolint:contextcheck // the test's own
		r.t.Errorf("stored: %v %s", a.Progress, a.Details)
	}
	return nil, nil
}

func (reportingTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, nil
}
func (reportingTask) Reverts() bool { return false }

// TestProgressComesLate: a report from a call or an attempt that has ended changes nothing.
func TestProgressComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var late sync.WaitGroup
		store := memstore.New()
		work := func(ctx context.Context) error {
			late.Go(func() {
				time.Sleep(time.Minute)
				atom.Progress(ctx, 0.5, "late")
			})
			return nil
		}
		rest := func(context.Context) error { time.Sleep(time.Hour); return nil }
		eng, err := engine.New(flow.Linear("f", reporting("a", work, nothing), reporting("b", rest, nothing)), store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		late.Wait()
		if a := stored(t, store, "a"); a.Progress != 1 || a.Details != nil {
			t.Errorf("stored: %v %s", a.Progress, a.Details)
		}
	})
}

// TestProgressSurvives: committed progress survives a crash, and the next attempt starts at 0 with the last details.
func TestProgressSurvives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		records := memstore.New()
		process := records.Join()
		dying := func(ctx context.Context) error {
			atom.Progress(ctx, 0.5, "half")
			time.Sleep(2 * time.Second)
			if err := process.Close(); err != nil {
				t.Error(err)
			}
			atom.Progress(ctx, 0.75, "never seen")
			time.Sleep(2 * time.Second)
			if ctx.Err() == nil {
				t.Error("the task goes on though its progress cannot be kept")
			}
			return ctx.Err()
		}
		eng, err := engine.New(reporting("a", dying, nothing), process)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.StoreError)) {
			t.Fatalf("ended with %v", err)
		}
		if a := stored(t, records, "a"); a.Progress != 0.5 || a.Details.String() != `"half"` || a.State != states.TaskRunning {
			t.Errorf("stored: %v %s", a.Progress, a.Details)
		}
		again := func(context.Context) error {
			if a := stored(t, records, "a"); a.Progress != 0 || a.Details.String() != `"half"` || a.Attempt != 1 { //nolint:contextcheck // the test's own
				t.Errorf("stored of attempt %d: %v %s", a.Attempt, a.Progress, a.Details)
			}
			return nil
		}
		if eng, err = engine.New(reporting("a", again, nothing), records); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAttemptTimes checks when the present attempt of each atom started and ended, and that observers learn how long it
// took.
func TestAttemptTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		tries := 0
		work := func(context.Context) error {
			time.Sleep(time.Minute)
			if tries++; tries < 3 {
				return errors.New("not yet")
			}
			return nil
		}
		undo := func(context.Context) error { time.Sleep(time.Second); return nil }
		var told []string
		store := memstore.New()
		eng, err := engine.New(flow.Linear("f", reporting("a", work, undo)).WithRetry(atom.Times(3, atom.Constant(time.Hour))), store, engine.WithObserver(func(ev engine.Event) {
			if ev.Path == "a" && ev.Duration > 0 {
				told = append(told, fmt.Sprint(ev.To, " ", ev.Duration))
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		a := stored(t, store, "a")
		if want := began.Add(2 * (time.Hour + time.Minute)); !a.StartedAt.Equal(want) || !a.EndedAt.Equal(want.Add(time.Minute)) {
			t.Errorf("from %v to %v; want a minute from %v", a.StartedAt, a.EndedAt, want)
		}
		want := []string{"FAILURE 1m0s", "REVERTED 1s", "FAILURE 1m0s", "REVERTED 1s", "SUCCESS 1m0s"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestAttemptTimesInTurn: atoms that are ready at once and called one after the other each have their own times.
func TestAttemptTimesInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		store := memstore.New()
		minutes := func(n int) func(context.Context) error {
			return func(context.Context) error { time.Sleep(time.Duration(n) * time.Minute); return nil }
		}
		eng, err := engine.New(flow.Unordered("f", reporting("a", minutes(1), nothing), reporting("b", minutes(2), nothing)), store, engine.WithParallelism(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		a, b := stored(t, store, "a"), stored(t, store, "b")
		if got, want := a.EndedAt.Sub(began), time.Minute; got != want {
			t.Errorf("a ended after %v, want %v", got, want)
		}
		if got, want := b.EndedAt.Sub(b.StartedAt), 2*time.Minute; got != want {
			t.Errorf("b took %v, want %v", got, want)
		}
	})
}

// TestAttemptTimesOfReverts checks the times of a revert that is retried. While it waits, they are those of the failed
// attempt, then those of the next one.
func TestAttemptTimesOfReverts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		began := time.Now()
		tries := 0
		fails := atom.Untyped("a", func(context.Context, atom.Values) (any, error) { return nil, errors.New("no") },
			func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) {
				time.Sleep(time.Minute)
				if tries++; tries < 2 {
					return nil, errors.New("not yet")
				}
				return "undone", nil
			}, atom.RevertAttempts(2, atom.Constant(time.Hour)))
		eng, err := engine.New(flow.Linear("f", fails), store)
		if err != nil {
			t.Fatal(err)
		}
		var waiting sync.WaitGroup
		waiting.Go(func() {
			time.Sleep(2 * time.Minute)
			if a := stored(t, store, "a"); !a.StartedAt.Equal(began) || a.EndedAt.Sub(began) != time.Minute {
				t.Errorf("while it waits: from %v to %v", a.StartedAt, a.EndedAt)
			}
		})
		if _, err := eng.Run(t.Context(), "r"); !errors.As(err, new(*engine.RevertedError)) {
			t.Fatal(err)
		}
		waiting.Wait()
		if a := stored(t, store, "a"); a.StartedAt.Sub(began) != time.Hour+time.Minute || a.EndedAt.Sub(a.StartedAt) != time.Minute {
			t.Errorf("in the end: from %v to %v", a.StartedAt.Sub(began), a.EndedAt.Sub(began))
		}
	})
}
