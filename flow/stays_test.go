package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestWarnsOfWorkThatStays: a task without Revert before a step that can fail is warned of, once per flow, unless it has
// no effect, is a pivot or comes behind one, or nothing in the flow can be undone.
//
// Guarantee (G4): Ebb warns once per flow of a step without Revert before a step that can fail, in every language.
// Also: `flow/asl: TestRules`, `TestFlowWarns`, `flow/sm4c: TestWarnsOfWorkThatStays`.
func TestWarnsOfWorkThatStays(t *testing.T) {
	t.Parallel()
	does := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	undoes := func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil }
	keep := func(name string, opts ...atom.Option) *atom.Atom { return atom.Func(name, does, opts...) }
	undo := func(name string, opts ...atom.Option) *atom.Atom { return atom.Pair(name, does, undoes, opts...) }
	for name, test := range map[string]struct {
		root flow.Node
		want string // "" for none
	}{
		"before":            {flow.Linear("f", keep("charge"), undo("reserve")), `task "charge" has no Revert and comes before`},
		"several":           {flow.Linear("f", keep("a"), keep("b"), keep("c"), keep("d"), undo("e")), `tasks "a", "b", "c" and 1 more have no Revert`},
		"the last":          {flow.Linear("f", undo("reserve"), keep("charge")), ""},
		"no effect":         {flow.Linear("f", keep("read", atom.NoEffect()), undo("reserve")), ""},
		"a wait":            {flow.Linear("f", atom.Awaits[string]("wait", "go", atom.Deferral{}), undo("reserve")), ""},
		"a pivot":           {flow.Linear("f", keep("charge", atom.Pivot()), undo("reserve")), ""},
		"behind a pivot":    {flow.Linear("f", undo("pay", atom.Pivot()), keep("ship"), undo("tell")), ""},
		"nothing is undone": {flow.Linear("f", keep("charge"), keep("ship")), ""},
		"beside":            {flow.Unordered("f", keep("charge"), undo("reserve")), ""},
		"in a flow":         {flow.Linear("f", flow.Unordered("g", keep("charge"), undo("reserve")), keep("ship")), `task "charge"`},
	} {
		plan, err := flow.Compile(test.root, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := slices.DeleteFunc(slices.Clone(plan.Warnings), func(w string) bool { return !strings.Contains(w, "stays done") && !strings.Contains(w, "did stays") })
		switch {
		case test.want == "" && len(found) == 0:
		case test.want != "" && len(found) == 1 && strings.HasPrefix(found[0], test.want):
		default:
			t.Errorf("%s: %q; want %q", name, found, test.want)
		}
	}
}
