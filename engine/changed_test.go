package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestErrChangedSaysWhat names the atoms that a changed flow has added, removed and reordered.
func TestErrChangedSaysWhat(t *testing.T) {
	t.Parallel()
	step := func(name string) *atom.Atom {
		return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	}
	for name, c := range map[string]struct {
		next *flow.LinearFlow
		want string
	}{
		"added":       {flow.Linear("f", step("a"), step("new"), step("b"), step("c"), step("d")), `added: "new"`},
		"removed":     {flow.Linear("f", step("b"), step("c"), step("d")), `removed: "a" (SUCCESS)`},
		"reordered":   {flow.Linear("f", step("b"), step("a"), step("c"), step("d")), `reordered: "b" now comes before "a"`},
		"all":         {flow.Linear("f", step("b"), step("new"), step("c"), step("d")), `added: "new"; removed: "a" (SUCCESS)`},
		"later":       {flow.Linear("f", step("a"), step("b"), step("c"), step("d"), step("e")), `added: "e"`},
		"not begun":   {flow.Linear("f", step("a"), step("b"), step("d"), step("new")), `added: "new"; removed: "c"`},
		"later order": {flow.Linear("f", step("a"), step("b"), step("d"), step("c")), `reordered: "d" now follows "b", "c" now follows "d"`},
		"at once":     {flow.Linear("f", step("a"), step("b"), flow.Unordered("cd", step("c"), step("d"))), `"d" no longer follows "c"`},
		"version": {
			flow.Linear("f", step("a"), step("b"), step("c"), atom.Func("d", func(context.Context, struct{}) (struct{}, error) {
				return struct{}{}, nil
			}, atom.Version("2"))), `same atoms in the same order; the change is in the flows around them, a decider, a version`,
		},
	} {
		store := memstore.New()
		first := newEngine(t, flow.Linear("f", step("a"), step("b"), step("c"), step("d")),
			engine.WithStore(enginetest.DieAt(store.Join(), 3)))
		if _, err := first.Run(t.Context(), "r"); err == nil {
			t.Fatal("the process did not die")
		}
		_, err := newEngine(t, c.next, engine.WithStore(store)).Run(t.Context(), "r")
		if !errors.Is(err, engine.ErrChanged) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestResultString checks the printed form of a result.
func TestResultString(t *testing.T) {
	t.Parallel()
	bad := atom.Func("a", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })
	e := newEngine(t, flow.Linear("f", bad))
	res, _ := e.Run(t.Context(), "r")
	if got := fmt.Sprint(res); got != `run "r" of flow "f": FAILURE: a: Error: no` {
		t.Errorf("got %s", got)
	}
	nodes := []any{
		flow.Linear("f", bad), flow.Unordered("u"), flow.Graph("g"), flow.Each("e", linesKey, bad),
		flow.Run[struct{}, struct{}]("r", bad), flow.Growing("o", nil), bad, orderKey,
	}
	if got := fmt.Sprint(nodes...); got != "f u g e r o a order" {
		t.Errorf("got %s", got)
	}
}

// TestInputMisspelled names the input that was probably meant.
func TestInputMisspelled(t *testing.T) {
	t.Parallel()
	e := newEngine(t, atom.Func("a", func(context.Context, parcel) (struct{}, error) { return struct{}{}, nil }),
		engine.WithInputs(engine.AnyInput))
	_, err := e.Run(t.Context(), "r", engine.With(atom.NewKey[string]("ordr"), "o"))
	want := `pass it with engine.With (the run was given "ordr", which nothing requires)`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
