package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

var everyNumber = atom.NewKey[[]int]("numbers")

// roundsOfEvents is a machine that calls a function at each of two events, repeatedly.
const roundsOfEvents = `{"name": "m", "version": "1", "events": [{"name": "first"}, {"name": "second"}],
"functions": [{"name": "do", "type": "task", "operation": "do:it"}],
"states": [
 {"name": "A", "start": true, "enterAction": {"type": "invokeFunction", "functionName": "do", "waitForCompletion": true},
  "transitions": [{"nextState": "B", "eventGroups": [{"events": ["first"]}]}]},
 {"name": "B", "enterAction": {"type": "parallel", "actions": [{"type": "invokeFunction", "functionName": "do", "waitForCompletion": true}, {"type": "invokeFunction", "functionName": "do", "waitForCompletion": true}]},
  "transitions": [{"nextState": "A", "eventGroups": [{"events": ["second"]}]}, {"nextState": "Late", "timeout": "PT1H"}]},
 {"name": "Late"}]}`

// everyKind are flows whose runs have atoms in every kind of place.
func everyKind(t *testing.T) map[string]func(s *stage) flow.Node {
	t.Helper()
	machine := func(text string) func(*stage) flow.Node {
		m, err := asl.Parse("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return func(*stage) flow.Node { return m.Flow() }
	}
	events, err := sm4c.Parse("m", []byte(roundsOfEvents))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]func(s *stage) flow.Node{
		"loop": machine(`{"StartAt": "Add", "States": {
			"Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "Do"},
			"Do": {"Type": "Task", "Resource": "do:a", "ResultPath": null, "Next": "Again"},
			"Again": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThan": 200, "Next": "Add"}], "Default": "End"},
			"End": {"Type": "Succeed"}}}`),
		"map": machine(`{"StartAt": "Numbers", "States": {
			"Numbers": {"Type": "Pass", "Parameters": {"k.$": "States.ArrayRange(1, 120, 1)"}, "Next": "All / of [7]"},
			"All / of [7]": {"Type": "Map", "ItemsPath": "$.k", "MaxConcurrency": 9, "ItemProcessor": {"StartAt": "Both", "States": {
				"Both": {"Type": "Parallel", "End": true, "Branches": [
					{"StartAt": "L", "States": {"L": {"Type": "Task", "Resource": "do:l", "Revert": {"Resource": "undo:l"}, "End": true}}},
					{"StartAt": "R", "States": {"R": {"Type": "Task", "Resource": "do:r", "End": true}}}]}}},
				"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 2}], "End": true}}}`),
		"events": func(*stage) flow.Node { return events.Flow() },
		"grown":  func(*stage) flow.Node { return flow.Growing("go", lang(boundedGo)) },
		"retries": func(s *stage) flow.Node {
			s.do = script{"c": func(_ context.Context, n int) error {
				if n < 6 {
					return errRefused
				}
				return nil
			}}
			inner := flow.Linear("inner", s.atom("b"), s.atom("c")).WithRetry(atom.Times(2, atom.Backoff{}))
			return flow.Linear("outer", s.atom("a"), flow.Unordered("both", inner, s.atom("d"))).WithRetry(atom.Times(5, atom.Backoff{}))
		},
		"each": func(s *stage) flow.Node {
			s.do = script{"fails": alwaysFails}
			body := flow.Linear("f", s.atom("open"), s.atom("close"))
			return flow.Linear("order", s.atom("a"), flow.Each("each", everyNumber, body).WithParallelism(1), s.atom("fails"))
		},
	}
}

// TestEveryAtomOnce reads the tree of runs of every kind level by level, in small pages. Each atom that ebb show prints
// is in it once, with items in the order of their numbers. The tree of ebb show has no step twice, and the diagram of a
// plan has each task.
func TestEveryAtomOnce(t *testing.T) {
	t.Parallel()
	for name, build := range everyKind(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, store := &stage{}, memstore.New()
				eng := newEngine(t, build(s), engine.WithStore(store), engine.WithTasks(parts{s}), engine.WithInputs(engine.AnyInput))
				given := engine.Input(atom.FromJSON([]byte(`{"left": [0, 0, 0, 0], "items": [1, 2, 3], "n": 0}`)))
				if name == "each" {
					given = engine.With(everyNumber, make([]int, 23))
				}
				if _, err := eng.Run(t.Context(), "r", given, engine.Unload()); err != nil {
					t.Log(err)
				}
				for i := range 8 { // runs that wait for events get them
					m := storage.Message{Run: "r", Kind: grow.MessageSignal, Name: []string{"first", "second"}[i%2], Body: atom.MustEncode(i)}
					if name != "events" {
						break
					}
					if err := store.Send(t.Context(), m); err != nil {
						t.Fatal(err)
					}
					if _, err := eng.Run(t.Context(), "r", engine.Unload()); err != nil {
						t.Log(err)
					}
				}
				everyAtomOnce(t, store)
			})
		})
	}
}

func everyAtomOnce(t *testing.T, store backend.Store) {
	t.Helper()
	run, err := store.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	want := atomsShown(t, store, &run, "")
	got := map[string]int{}
	levels := []string{""}
	for ; len(levels) > 0; levels = levels[1:] {
		rows := levelRows(t, store, &run, levels[0])
		for i := range rows {
			if rows[i].Kind != "" {
				got[rows[i].Path]++
			}
			if rows[i].Steps {
				levels = append(levels, rows[i].Path)
			}
		}
		strip, err := inspect.ReadStrip(t.Context(), store, &run, levels[0])
		if err != nil {
			t.Fatal(err)
		}
		if items := slices.DeleteFunc(rows, func(r inspect.Row) bool { return !strings.HasPrefix(r.Name, "[") }); len(items) > 0 && strip.Items() != len(items) {
			t.Errorf("%s has %d items, its strip %s", levels[0], len(items), strip)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("the levels have other atoms than ebb show (-want +got):\n%s", diff)
	}
	tree, err := inspect.Recorded(t.Context(), store, &run, nil)
	if err != nil {
		t.Fatal(err)
	}
	once := map[string]bool{}
	for steps := []*inspect.Step{&tree.Top}; len(steps) > 0; steps = steps[1:] {
		few, _ := steps[0].Shown()
		for _, s := range few {
			if once[s.Path] {
				t.Errorf("the tree has %s twice", s.Path)
			}
			once[s.Path] = true
		}
		steps = append(steps, few...)
	}
	picture, err := inspect.PlanView(t.Context(), store, &run)
	if errors.Is(err, storage.ErrNotFound) {
		drawnOnce(t, store, &run, once)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	for i := range picture.Nodes {
		if n := &picture.Nodes[i]; n.State != "" {
			name, _, _ := strings.Cut(n.Label, ": ") // of a retry
			drawn[name]++
		}
	}
	plan := maps.Clone(want)
	maps.DeleteFunc(plan, func(path string, _ int) bool { return strings.Contains(path, "/") })
	if diff := cmp.Diff(plan, drawn); diff != "" {
		t.Errorf("the diagram has other atoms than ebb show (-want +got):\n%s", diff)
	}
}

// drawnOnce compares the steps of the tree with the diagram of a run whose flow has no plan.
func drawnOnce(t *testing.T, store backend.Store, run *storage.Run, steps map[string]bool) {
	t.Helper()
	picture, err := inspect.GrownView(t.Context(), store, run)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, g := range picture.Groups {
		drawn[g.ID] = true
	}
	for _, n := range picture.Nodes {
		if n.Kind == draw.Start || n.Kind == draw.End || n.Kind == draw.Junction || n.Label == "…" {
			continue
		}
		if drawn[n.ID] {
			t.Errorf("the diagram has %s twice", n.ID)
		}
		drawn[n.ID] = true
	}
	if diff := cmp.Diff(steps, drawn); diff != "" {
		t.Errorf("the diagram has other steps than the tree (-want +got):\n%s", diff)
	}
}

// atomsShown returns the paths of the atoms that ebb show -o json prints, of a run and of the runs of its flow.Each.
func atomsShown(t *testing.T, store backend.Store, run *storage.Run, prefix string) map[string]int {
	t.Helper()
	shown := map[string]int{}
	for a, err := range inspect.Atoms(t.Context(), store, run) {
		if err != nil {
			t.Fatal(err)
		}
		shown[prefix+a.Path]++
		if a.Run != "" {
			child, err := store.Run(t.Context(), a.Run)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(shown, atomsShown(t, store, &child, prefix+a.Path+"/"))
		}
	}
	return shown
}

// levelRows reads a level in pages, and checks that they are parts of one order.
func levelRows(t *testing.T, store backend.Store, run *storage.Run, below string) (rows []inspect.Row) {
	t.Helper()
	number := -1
	for after := ""; ; {
		l, err := inspect.ReadLevel(t.Context(), store, run, inspect.LevelQuery{Below: below, After: after, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		at, err := inspect.ReadLevel(t.Context(), store, run, inspect.LevelQuery{Below: below, From: l.From, Limit: 7})
		if diff := cmp.Diff(l, at); diff != "" || err != nil || l.From != len(rows) {
			t.Fatalf("%q after %q: %v, from %d of %d: %s", below, after, err, l.From, len(rows), diff)
		}
		for i := range l.Rows {
			if strings.HasPrefix(l.Rows[i].Name, "[") && l.Rows[i].Kind == "flow" {
				if number++; l.Rows[i].Name != fmt.Sprintf("[%d]", number) {
					t.Errorf("%s is at %d of the items", l.Rows[i].Path, number)
				}
			}
		}
		if rows = append(rows, l.Rows...); l.Next == "" {
			if len(rows) != l.Total || l.Partial {
				t.Errorf("%q has %d rows, and says %d", below, len(rows), l.Total)
			}
			return rows
		}
		after = l.Next
	}
}
