package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestWaitedForASlot: the wait for a free slot is not part of an atom's duration. Observers and the views of the
// history agree on both, also for reverts.
func TestWaitedForASlot(t *testing.T) {
	for _, slots := range []int{1, 2, 10} {
		synctest.Test(t, func(t *testing.T) {
			var tasks []flow.Node
			for i := range 4 {
				tasks = append(tasks, atom.Pair(fmt.Sprint("t", i), func(context.Context, struct{}) (struct{}, error) {
					time.Sleep(time.Second)
					return struct{}{}, nil
				}, func(context.Context, struct{}, atom.Outcome[struct{}]) error {
					time.Sleep(2 * time.Second)
					return nil
				}))
			}
			fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
				return struct{}{}, atom.Errorf("No", "no")
			})
			seen := map[string][2]time.Duration{}
			e := newEngine(t, flow.Linear("f", flow.Unordered("all", tasks...), fails), engine.WithStore(memstore.New()),
				engine.WithParallelism(slots), engine.WithObserver(func(ev engine.Event) {
					if ev.Kind == engine.AtomChanged && (ev.To == "SUCCESS" || ev.To == "REVERTED") {
						seen[ev.To+" "+ev.Path] = [2]time.Duration{ev.Duration, ev.Waited}
					}
				}))
			if _, err := e.Run(t.Context(), "r"); err == nil {
				t.Fatal("it succeeded")
			}
			run, err := e.Store().Run(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			tree, err := inspect.Recorded(t.Context(), e.Store(), &run, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(tree.Undone) != 4 {
				t.Fatalf("%d undone", len(tree.Undone))
			}
			var most time.Duration
			for _, s := range tree.Undone {
				is, undo := seen["SUCCESS "+s.Path], seen["REVERTED "+s.Path]
				if is[0] != time.Second || s.Waited != is[1] || s.Took(s.Ended) != is[0] {
					t.Errorf("%d slots: %s took %v and waited %v; shown %v, waited %v", slots, s.Path, is[0], is[1],
						s.Took(s.Ended), s.Waited)
				}
				if undo[0] != 2*time.Second || s.Undo.Waited != undo[1] || s.Undo.Took(s.Undo.Ended) != undo[0] {
					t.Errorf("%d slots: the undo of %s took %v and waited %v; shown %v, waited %v", slots, s.Path, undo[0],
						undo[1], s.Undo.Took(s.Undo.Ended), s.Undo.Waited)
				}
				most = max(most, is[1])
			}
			if want := map[int]time.Duration{1: 3 * time.Second, 2: time.Second, 10: 0}[slots]; most != want {
				t.Errorf("%d slots: an atom waited %v; want %v", slots, most, want)
			}
		})
	}
}

// TestPauseBetweenAttempts: the pause between two attempts is not part of the duration of an atom or its revert. The
// tree of a live run, the tree of the stored one and observers agree.
func TestPauseBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		executed, reverted, minute := 0, 0, atom.Constant(time.Minute)
		busy := func(tries *int) error {
			*tries++
			time.Sleep(time.Duration(*tries) * time.Second)
			if *tries < 3 {
				return atom.Errorf("Busy", "busy")
			}
			return nil
		}
		task := atom.Pair("task", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, busy(&executed) },
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { return busy(&reverted) },
			atom.Attempts(3, minute), atom.RevertAttempts(3, minute))
		fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
			return struct{}{}, atom.Errorf("No", "no")
		})
		live, durations := inspect.NewTree("f", "r"), map[string]time.Duration{}
		e := newEngine(t, flow.Linear("f", task, fails), engine.WithStore(memstore.New()),
			engine.WithObserver(func(ev engine.Event) {
				if c, shown := inspect.Observed(ev); shown {
					live.Apply(&c)
				}
				if ev.Path == "task" {
					durations[ev.To] = ev.Duration
				}
			}))
		if _, err := e.Run(t.Context(), "r"); err == nil {
			t.Fatal("it succeeded")
		}
		run, err := e.Store().Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := inspect.Recorded(t.Context(), e.Store(), &run, nil)
		if err != nil {
			t.Fatal(err)
		}
		if durations["SUCCESS"] != 3*time.Second || durations["REVERTED"] != 3*time.Second {
			t.Errorf("observers saw %v", durations)
		}
		for name, tree := range map[string]*inspect.Tree{"live": live, "stored": stored} {
			s := tree.Undone[0]
			if s.Took(s.Ended) != 3*time.Second || s.Paused != 2*time.Minute || s.Attempt != 3 {
				t.Errorf("%s: attempt %d took %v, after %v", name, s.Attempt, s.Took(s.Ended), s.Paused)
			}
			if took := s.Undo.Took(s.Undo.Ended); took != 3*time.Second || s.UndoTry != 3 {
				t.Errorf("%s: attempt %d of the undo took %v", name, s.UndoTry, took)
			}
		}
	})
}
