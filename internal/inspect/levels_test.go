package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A looked store calls look after each commit, before any other commit.
type looked struct {
	backend.Store

	look func()
	mu   sync.Mutex
}

func (s *looked) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.Store.Commit(ctx, claim, cp)
	s.look()
	return err
}

// failingLast has tasks that take a second. The first call of each fails, and all calls of "exec:bad".
type failingLast struct{ busyOnce }

func (r failingLast) Task(name string) (atom.Body, error) {
	if name == "exec:bad" {
		return atom.Func("bad", func(context.Context, struct{}) (int, error) {
			return 0, atom.Errorf("Bad", "it is")
		}).Body(), nil
	}
	return r.busyOnce.Task(name)
}

// TestLevels: remembered levels equal levels that are read, after each commit of runs of all kinds.
func TestLevels(t *testing.T) {
	t.Parallel()
	step := func(name string, fails bool) flow.Node {
		return atom.Pair(name, func(context.Context, struct{}) (int, error) {
			if fails {
				return 0, atom.Errorf("Bad", "it is")
			}
			return 1, nil
		}, func(context.Context, struct{}, atom.Outcome[int]) error { return nil })
	}
	numbers := atom.NewKey[[]int]("numbers")
	all := func(fails bool) flow.Node {
		return flow.Linear("f", step("a", false), flow.Unordered("u", step("b", false), step("c", false)),
			flow.Each("each", numbers, flow.Linear("item", step("d", false), step("e", false))),
			flow.Each("plain", numbers, step("g", false)),
			flow.Linear("again", step("h", false), step("z", fails)).WithRetry(atom.Times(2, atom.Backoff{})))
	}
	machine := func(last string) flow.Node {
		m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
			"A": {"Type": "Task", "Resource": "exec:a", "Revert": "exec:x", "Retry": [{"ErrorEquals": ["Busy"]}], "Next": "M"},
			"M": {"Type": "Map", "ItemsPath": "$$.Execution.Input.n", "Next": "P", "ItemProcessor": {"StartAt": "B", "States": {
				"B": {"Type": "Task", "Resource": "exec:b", "Revert": "exec:x", "Next": "W"},
				"W": {"Type": "Wait", "Seconds": 2, "End": true}}}},
			"P": {"Type": "Parallel", "Next": "Z", "Branches": [
				{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "exec:c", "End": true}}},
				{"StartAt": "D", "States": {"D": {"Type": "Task", "Resource": "exec:d", "Next": "E"}, "E": {"Type": "Pass", "End": true}}}]},
			"Z": {"Type": "Task", "Resource": "`+last+`", "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 1}], "End": true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.Flow()
	}
	for name, root := range map[string]flow.Node{
		"Go": all(false), "Go, undone": all(true), "ASL": machine("exec:z"), "ASL, undone": machine("exec:bad"),
		"Go, no history": all(false), "ASL, no history": machine("exec:z"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &looked{Store: memstore.New()}
				var levels inspect.Levels
				looks := 0
				store.look = func() {
					if run, err := store.Run(t.Context(), "r"); err == nil {
						looks += sameLevels(t, &levels, store.Store, &run, "")
					}
				}
				opts := []engine.Option{engine.WithTasks(failingLast{busyOnce{new(atomic.Int64)}})}
				input := engine.Input(atom.MustEncode(map[string][]int{"n": {1, 2, 3}}))
				if strings.HasPrefix(name, "Go") {
					opts = append(opts, engine.With(numbers, []int{1, 2, 3}))
					input = engine.Input(nil)
				}
				if strings.HasSuffix(name, "no history") {
					opts = append(opts, engine.WithCheckpoints(engine.NoHistory))
				}
				eng, err := engine.New(root, store, opts...)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err = eng.Run(ctx, "r", input)
				if undone := strings.HasSuffix(name, "undone"); (err != nil) != undone {
					t.Errorf("the run ended with %v", err)
				}
				if strings.HasPrefix(name, "Go") {
					if err := eng.Reset(t.Context(), "r"); err != nil {
						t.Error(err)
					}
					_, _ = eng.Run(ctx, "r", input)
				}
				if looks < 10 { // commits are few if many steps share one
					t.Errorf("only %d levels were looked at", looks)
				}
			})
		})
	}
}

// sameLevels compares the level below a path, and all levels below it, with levels that are read again. It returns
// their number.
func sameLevels(t *testing.T, levels *inspect.Levels, store backend.Reader, run *storage.Run, below string) int {
	t.Helper()
	q := inspect.LevelQuery{Below: below, Limit: 100}
	want, err := inspect.ReadLevel(t.Context(), store, run, q)
	if err != nil {
		t.Error(err)
		return 0
	}
	got, err := levels.Read(t.Context(), store, run, q)
	if err != nil {
		t.Error(err)
		return 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("below %q after %d commits (-read anew +remembered):\n%s", below, run.Seq, diff)
	}
	n := 1
	for _, r := range want.Rows {
		if r.Steps {
			n += sameLevels(t, levels, store, run, r.Path)
		}
	}
	return n
}

// A counted store counts the atoms that are read in pages, as for whole levels.
type counted struct {
	looked

	atoms int
}

func (s *counted) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	atoms, err := s.Store.Atoms(ctx, run, q)
	s.atoms += len(atoms)
	return atoms, err
}

// TestLevelsReadOnce: a level with 1,000 atoms is not read again after each commit. Only changed atoms are.
func TestLevelsReadOnce(t *testing.T) {
	t.Parallel()
	done := flow.Unordered("done")
	for i := range 1000 {
		done.Add(atom.Func(fmt.Sprintf("atom-%d", i), func(context.Context, struct{}) (int, error) { return i, nil }))
	}
	store := &counted{looked: looked{Store: memstore.New()}}
	var levels inspect.Levels
	looks, after := 0, 0
	store.look = func() {
		run, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Error(err)
			return
		}
		l, err := levels.Read(t.Context(), store, &run, inspect.LevelQuery{From: 950, Limit: 50})
		if err != nil {
			t.Error(err)
			return
		}
		if l.Total > 1000 {
			if looks++; looks == 1 {
				after = store.atoms
			}
		}
	}
	last := flow.Linear("last")
	for i := range 20 {
		last.Add(atom.Func(fmt.Sprintf("step-%d", i), func(context.Context, struct{}) (int, error) { return i, nil }))
	}
	eng, err := engine.New(flow.Linear("f", done, last), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	const each = 16 // to see that nothing is below a new step, a small page of the atoms after it is read
	if more := store.atoms - after; looks < 20 || more > each*looks {
		t.Errorf("after the first of %d looks, %d atoms were read in pages; want at most %d for each", looks, more, each)
	}
}
