package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// refuser is a task that fails at once. It fails the test if it is called a second time.
func refuser(t *testing.T) func(context.Context, int) error {
	t.Helper()
	calls := 0
	return func(context.Context, int) error {
		if calls++; calls > 1 {
			t.Error("more than one item was called")
		}
		return errRefused
	}
}

// mapMachine is an ASL machine whose Map calls a task for each item.
func mapMachine(t *testing.T, revert string) flow.Node {
	t.Helper()
	m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "ResultPath": null, "Next": "M"},
		"M": {"Type": "Map", "ItemsPath": "$.numbers", "End": true, "ItemProcessor": {"StartAt": "B", "States": {
			"B": {"Type": "Task", "Resource": "do:item", `+revert+`"End": true}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// parallelMachine is an SM4C machine that calls a function three times at once.
func parallelMachine(t *testing.T, revert string) flow.Node {
	t.Helper()
	call := `{"type": "invokeFunction", "functionName": "item", "waitForCompletion": true` + revert + `}`
	m, err := sm4c.Parse("m", []byte(`{"name": "m", "version": "1", "functions": [
		{"name": "a", "type": "task", "operation": "do:a"}, {"name": "not a", "type": "task", "operation": "undo:a"},
		{"name": "item", "type": "task", "operation": "do:item"}, {"name": "not item", "type": "task", "operation": "undo:item"}],
		"states": [{"name": "One", "start": true, "enterAction": `+undoableCall("a", "not a")+`,
			"transitions": [{"nextState": "Two"}]},
		{"name": "Two", "enterAction": {"type": "parallel", "actions": [`+call+`, `+call+`, `+call+`]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// TestNeverCalled fails the first of several items that the process executes one after the other. The others are
// cancelled before they are called. They have nothing to undo, and nothing that stays done.
//
// Guarantee (Waiting and time): An atom that was cancelled before it was called is not reverted, and no view shows it
// as undone or as staying done, in Go, ASL and SM4C.
// Also: `TestNeverCalledPlanned`.
func TestNeverCalled(t *testing.T) {
	t.Parallel()
	each := func(reverts bool) func(*testing.T, *stage) flow.Node {
		return func(t *testing.T, s *stage) flow.Node {
			t.Helper()
			do := func(ctx context.Context, _ int) (int, error) { return 0, s.do["item"](ctx, s.act("item")) }
			body := atom.Func("item", do)
			if reverts {
				body = atom.Pair("item", do, func(context.Context, int, atom.Outcome[int]) error {
					s.act("undo item")
					return nil
				})
			}
			return flow.Linear("f", s.atom("a"), flow.Each("items", numbersKey, body))
		}
	}
	onMap := func(revert string) func(*testing.T, *stage) flow.Node {
		return func(t *testing.T, _ *stage) flow.Node { t.Helper(); return mapMachine(t, revert) }
	}
	onParallel := func(revert string) func(*testing.T, *stage) flow.Node {
		return func(t *testing.T, _ *stage) flow.Node { t.Helper(); return parallelMachine(t, revert) }
	}
	for name, c := range map[string]struct {
		root  func(*testing.T, *stage) flow.Node
		isGo  bool
		undo  string
		undid []string
	}{
		"go":            {each(true), true, "undone 2", []string{"undo item", "undo a done"}},
		"go stays":      {each(false), true, "undone 1", []string{"undo a done"}},
		"asl map":       {onMap(`"Revert": "undo:item", `), false, "undone 2", []string{"undo item failed", "undo a done"}},
		"asl map stays": {onMap(""), false, "undone 1", []string{"undo a done"}},
		"sm4c":          {onParallel(`, "revert": {"functionName": "not item"}`), false, "undone 2", []string{"undo item failed", "undo a done"}},
		"sm4c stays":    {onParallel(""), false, "undone 1", []string{"undo a done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{do: script{"item": refuser(t)}}
				store := memstore.New()
				opts := []engine.Option{engine.WithStore(store), engine.WithTasks(parts{s}), engine.WithParallelism(1)}
				input := engine.Input(atom.FromJSON([]byte(`{"numbers": [0, 1, 2]}`)))
				if c.isGo {
					opts = append(opts, engine.WithInputs(numbersKey))
					input = engine.With(numbersKey, numbers(3))
				}
				if _, err := newEngine(t, c.root(t, s), opts...).Run(t.Context(), "r", input); err == nil {
					t.Fatal("it did not fail")
				}
				if diff := cmp.Diff(append([]string{"a", "item"}, c.undid...), s.took()); diff != "" {
					t.Errorf("what was done (-want +got):\n%s", diff)
				}
				run, err := store.Run(t.Context(), "r")
				if err != nil {
					t.Fatal(err)
				}
				undo, err := inspect.UndoOf(t.Context(), store, &run)
				if err != nil || undo.String() != c.undo {
					t.Errorf("%q, %v; want %q", undo.String(), err, c.undo)
				}
				wantCancelled(t, store, &run, 2)
			})
		})
	}
}

// TestNeverCalledPlanned cancels a run while one of its three tasks is called and the others wait for a free slot. Only
// the called one is undone.
func TestNeverCalledPlanned(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]string{"reverts": "undone 1", "stays": "undone 0, may stay done 1: a"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &stage{do: script{}}
				ctx, called := t.Context(), make(chan struct{}, 3)
				atoms := make([]flow.Node, 3)
				for i, path := range []string{"a", "b", "c"} {
					do := func(ctx context.Context, _ struct{}) (int, error) {
						s.act(path)
						called <- struct{}{}
						<-ctx.Done()
						return 0, ctx.Err()
					}
					if atoms[i] = atom.Func(path, do); name == "reverts" {
						atoms[i] = atom.Pair(path, do, func(context.Context, struct{}, atom.Outcome[int]) error {
							s.act("undo " + path)
							return nil
						})
					}
				}
				store := memstore.New()
				eng := newEngine(t, flow.Unordered("f", atoms...), engine.WithStore(store), engine.WithParallelism(1))
				ended := make(chan error, 1)
				go func() { _, err := eng.Run(ctx, "r"); ended <- err }()
				<-called
				if _, err := eng.Command(ctx, "r", engine.Cancel("enough")); err == nil {
					t.Fatal("it was not cancelled")
				}
				if err := <-ended; err == nil {
					t.Fatal("it did not fail")
				}
				want := []string{"a"}
				if name == "reverts" {
					want = append(want, "undo a")
				}
				if diff := cmp.Diff(want, s.took()); diff != "" {
					t.Errorf("what was done (-want +got):\n%s", diff)
				}
				run, err := store.Run(ctx, "r")
				if err != nil {
					t.Fatal(err)
				}
				if got, err := inspect.UndoOf(ctx, store, &run); err != nil || got.String() != undo {
					t.Errorf("%q, %v; want %q", got.String(), err, undo)
				}
				wantCancelled(t, store, &run, 2)
			})
		})
	}
}

// wantCancelled checks how many steps of a run, and of the runs that it started, are shown as cancelled.
func wantCancelled(t *testing.T, store backend.Store, run *storage.Run, want int) {
	t.Helper()
	tree, err := inspect.Recorded(t.Context(), store, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	var count func(steps []*inspect.Step)
	count = func(steps []*inspect.Step) {
		for _, s := range steps {
			if !s.Inner && s.Status() == storage.Status(states.TaskCancelled.String()) {
				got++
			}
			below, _ := s.Shown()
			count(below)
		}
	}
	top, _ := tree.Top.Shown()
	count(top)
	if got != want {
		t.Errorf("%d steps are shown as cancelled; want %d", got, want)
	}
	for _, s := range tree.Undone {
		if s.Status() == storage.Status(states.TaskCancelled.String()) {
			t.Errorf("%s is cancelled, and is shown as undone", s.Path)
		}
	}
}
