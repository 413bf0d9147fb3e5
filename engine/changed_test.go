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
	"github.com/ebbflow/ebb/storage"
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
			}, atom.Version("2"))), `changed: "d" now has version 2`,
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

// TestErrChangedSaysWhatOfAtoms names what atoms of the same names now require, provide and run, also inside the flows
// of other nodes.
func TestErrChangedSaysWhatOfAtoms(t *testing.T) {
	t.Parallel()
	step := func(name string) *atom.Atom {
		return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	}
	gives := func(name, symbol string) *atom.Atom {
		return atom.Func(name, func(context.Context, struct{}) (string, error) { return "", nil }, atom.As(symbol))
	}
	needs := func(name, symbol string) *atom.Atom {
		return atom.Func(name, func(context.Context, string) (struct{}, error) { return struct{}{}, nil }, atom.From(symbol))
	}
	run := func(child flow.Node) flow.Node { return flow.Run[struct{}, struct{}]("r", child) }
	lists := atom.NewKey[[]struct{}]("list")
	list := atom.Func("list", func(context.Context, struct{}) ([]struct{}, error) { return make([]struct{}, 2), nil }, atom.As("list"))
	for name, c := range map[string]struct {
		was, next []flow.Node
		want      string
	}{
		"provides":        {[]flow.Node{gives("p", "x")}, []flow.Node{gives("p", "y")}, `changed: "p" now provides y, "p" no longer provides x`},
		"requires":        {[]flow.Node{gives("p", "x"), gives("q", "y"), needs("n", "x")}, []flow.Node{gives("p", "x"), gives("q", "y"), needs("n", "y")}, `changed: "n" now requires y, "n" no longer requires x`},
		"nested":          {[]flow.Node{flow.Linear("g", step("b"))}, []flow.Node{flow.Linear("g", step("b"), step("c"))}, `added: "c"`},
		"child":           {[]flow.Node{run(flow.Linear("g", step("b")))}, []flow.Node{run(flow.Linear("g", step("b"), step("c")))}, `added: "r/c"`},
		"child renamed":   {[]flow.Node{run(flow.Linear("g", step("b")))}, []flow.Node{run(flow.Linear("h", step("b")))}, `changed: "r" now runs the flow h, "r" no longer runs the flow g`},
		"body":            {[]flow.Node{list, flow.Each("e", lists, flow.Linear("g", step("b")))}, []flow.Node{list, flow.Each("e", lists, flow.Linear("g", step("b"), step("c")))}, `added: "e/*/c"`},
		"body renamed":    {[]flow.Node{list, flow.Each("e", lists, flow.Linear("g", step("b")))}, []flow.Node{list, flow.Each("e", lists, flow.Linear("h", step("b")))}, `the change is in the flows around them`},
		"task into child": {[]flow.Node{step("r")}, []flow.Node{run(flow.Linear("g", step("b")))}, `added: "r/b"; changed: "r" now runs the flow g`},
	} {
		store := memstore.New()
		first := newEngine(t, flow.Linear("f", append([]flow.Node{step("a")}, c.was...)...), engine.WithStore(enginetest.DieAt(store.Join(), 2)))
		if _, err := first.Run(t.Context(), "r"); err == nil {
			t.Fatal("the process did not die")
		}
		next := newEngine(t, flow.Linear("f", append([]flow.Node{step("a")}, c.next...)...), engine.WithStore(store))
		if _, err := next.Run(t.Context(), "r"); !errors.Is(err, engine.ErrChanged) || !strings.Contains(err.Error(), c.want) {
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

// TestEventString prints what observers and previews are told, without values.
func TestEventString(t *testing.T) {
	t.Parallel()
	failure := &atom.Failure{Atom: "a", Code: "Bad", Message: "no"}
	for want, of := range map[string]any{
		`run "r": RUNNING → SUCCESS`:                             engine.Event{Run: "r", Kind: engine.FlowChanged, From: "RUNNING", To: "SUCCESS"},
		`run "r": atom "a": RUNNING → FAILURE: a: Bad: no`:       engine.Event{Run: "r", Path: "a", Kind: engine.AtomChanged, From: "RUNNING", To: "FAILURE", Failure: failure},
		`run "r": atom "a": SUCCESS → STAYS_DONE`:                engine.Event{Run: "r", Path: "a", Kind: engine.WorkStays, From: "SUCCESS", To: "STAYS_DONE"},
		`run "r": event TaskStarted`:                             engine.Event{Run: "r", Kind: engine.LanguageEvent, Name: "TaskStarted"},
		`run "r": atom "a": progress 50 %`:                       engine.Event{Run: "r", Path: "a", Kind: engine.ProgressMade, Progress: 0.5},
		`run "r": atom "a": revert attempt 2 failed: a: Bad: no`: engine.Event{Run: "r", Path: "a", Kind: engine.RevertDelayed, Attempt: 2, Failure: failure},
		`run "r": only waits`:                                    engine.Event{Run: "r", Kind: engine.OthersAwaited},
		`run "r": waits for 2 of flow f`:                         engine.Event{Run: "r", Kind: engine.PlaceAwaited, Name: "2 of flow f"},
		`run "r": atom "a": began run "r/a"`:                     engine.Event{Run: "r", Path: "a", Kind: engine.RunDetached, Name: "r/a"},
		`a STAYS_DONE`:                                           engine.PreviewStep{Path: "a", Status: storage.StatusStaysDone},
		`p SUCCESS, the undo stops here`:                         engine.PreviewStep{Path: "p", Status: "SUCCESS", Stops: true},
	} {
		if got := fmt.Sprint(of); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
