package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// TestWarnsOfWorkThatStays: a task without Revert is warned of, once per flow, if a step can fail after its success: one
// that follows, one beside it, or one of another item. It is not if it has no effect, is a pivot or comes behind one, or
// if nothing in the flow can be undone.
//
// Guarantee (G4): Ebb warns once per flow of a step without Revert if one that follows, one beside it, or another item
// can still fail, in every language.
// Also: `flow/asl: TestRules`, `TestFlowWarns`, `flow/sm4c: TestWarnsOfWorkThatStays`.
func TestWarnsOfWorkThatStays(t *testing.T) {
	t.Parallel()
	does := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	undoes := func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil }
	keep := func(name string, opts ...atom.Option) *atom.Atom { return atom.Func(name, does, opts...) }
	undo := func(name string, opts ...atom.Option) *atom.Atom { return atom.Pair(name, does, undoes, opts...) }
	each := func(body flow.Node) flow.Node { return flow.Each("items", atom.NewKey[[]int]("list"), body) }
	child := func(nodes ...flow.Node) flow.Node {
		return flow.Run[struct{}, struct{}]("child", flow.Linear("c", nodes...))
	}
	apart := func(nodes ...flow.Node) flow.Node {
		return flow.Run[struct{}, string]("child", flow.Linear("c", nodes...)).Detached()
	}
	for name, test := range map[string]struct {
		root flow.Node
		want string // "" for none
	}{
		"before":            {flow.Linear("f", keep("charge"), undo("reserve")), `task "charge" has no Revert, and a step can fail`},
		"several":           {flow.Linear("f", keep("a"), keep("b"), keep("c"), keep("d"), undo("e")), `tasks "a", "b", "c" and 1 more have no Revert`},
		"the last":          {flow.Linear("f", undo("reserve"), keep("charge")), ""},
		"no effect":         {flow.Linear("f", keep("read", atom.NoEffect()), undo("reserve")), ""},
		"a wait":            {flow.Linear("f", atom.Awaits[string]("wait", "go", atom.Deferral{}), undo("reserve")), ""},
		"a pivot":           {flow.Linear("f", keep("charge", atom.Pivot()), undo("reserve")), ""},
		"behind a pivot":    {flow.Linear("f", undo("pay", atom.Pivot()), keep("ship"), undo("tell")), ""},
		"nothing is undone": {flow.Linear("f", keep("charge"), keep("ship")), ""},
		"beside":            {flow.Unordered("f", keep("charge"), undo("reserve")), `task "charge"`},
		"the last of some":  {flow.Linear("f", flow.Unordered("g", undo("a"), undo("b")), keep("charge")), ""},
		"on two branches": {
			flow.Unordered("f", flow.Linear("g", undo("a"), keep("b")), flow.Linear("h", undo("c"), keep("d"))),
			`tasks "b", "d" have no Revert`,
		},
		"beside items":      {flow.Unordered("f", keep("charge"), each(undo("pack"))), `task "charge"`},
		"items":             {flow.Linear("f", undo("reserve"), each(keep("pack"))), `task "items" has`},
		"undone items":      {flow.Linear("f", undo("reserve"), each(undo("pack"))), ""},
		"of an item":        {flow.Linear("f", each(flow.Linear("body", undo("pack"), keep("charge")))), `task "charge" has`},
		"of an item, pivot": {flow.Linear("f", each(flow.Linear("body", undo("pack", atom.Pivot()), keep("charge")))), ""},
		"of an only child":  {flow.Linear("f", child(undo("pack"), keep("charge"))), ""},
		"of a child":        {flow.Linear("f", child(undo("pack"), keep("charge")), undo("reserve")), `task "charge" has`},
		"behind its pivot":  {flow.Linear("f", child(undo("pack", atom.Pivot())), keep("charge"), undo("reserve")), `task "charge" has`},
		"only around":       {flow.Linear("f", undo("reserve"), child(keep("pack"), keep("charge"))), `task "pack" has`},
		"detached":          {flow.Linear("f", undo("reserve"), apart(keep("pack"), keep("charge"))), ""},
		"of a detached one": {flow.Linear("f", undo("reserve"), apart(keep("pack"), undo("charge"))), `task "pack" has`},
		"before a detached": {flow.Linear("f", keep("charge"), apart(undo("pack"))), ""},
		"in a flow":         {flow.Linear("f", flow.Unordered("g", keep("charge"), undo("reserve")), keep("ship")), `task "charge"`},
	} {
		plan, err := flow.CompileOpen(test.root, nil)
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
