package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPlanView draws the run of a flow without its code: the diagram of the plan, with the status of each atom. The
// diagram is stored once. Without a stored one, the result is an error.
func TestPlanView(t *testing.T) {
	t.Parallel()
	store, ctx := memstore.New(), t.Context()
	undoable := func(name string) *atom.Atom {
		return atom.Pair(name,
			func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil })
	}
	fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, atom.Errorf("No", "no")
	}, atom.NoEffect())
	items := atom.NewKey[[]int]("items")
	run := func(id string, root flow.Node, inputs ...engine.Option) *storage.Run {
		t.Helper()
		eng, err := engine.New(root, store, inputs...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(ctx, id); err == nil {
			t.Fatal("it did not fail")
		}
		row, err := store.Run(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return &row
	}
	order := flow.Linear("order", undoable("charge"),
		flow.Unordered("parcels", undoable("ship"), fails).WithRetry(atom.Times(1, atom.Constant(0))))
	plan, err := flow.Compile(order, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} {
		want := draw.OfPlan(plan)
		want.Title = "order  " + id
		want = want.Colored(map[string]string{
			"charge": "REVERTED", "ship": "REVERTED", "fails": "FAILURE", "parcels_retry": "SUCCESS",
		})
		for i := range want.Nodes {
			if n := &want.Nodes[i]; n.State != "" {
				n.Path = n.ID
			}
		}
		got, err := inspect.PlanView(ctx, store, run(id, order))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	records, err := store.NamedRecords(ctx, storage.RecordQuery{Kind: "ebb.plan"})
	if err != nil || len(records) != 1 {
		t.Errorf("%d records, %v", len(records), err)
	}
	each := run("c", flow.Linear("each", flow.Each("all", items, undoable("one")), fails), engine.With(items, []int{1, 2, 3}))
	got, err := inspect.PlanView(ctx, store, each)
	if err != nil {
		t.Fatal(err)
	}
	wantNodes(t, got, "all REVERTED 3 REVERTED", "all/*/one", "join all", "fails FAILURE")
	child := run("d", flow.Linear("parent", flow.Run[struct{}, struct{}]("ship", flow.Linear("child", undoable("label"))), fails))
	if got, err = inspect.PlanView(ctx, store, child); err != nil {
		t.Fatal(err)
	}
	wantNodes(t, got, "ship REVERTED", "ship/label REVERTED", "join ship", "fails FAILURE")
	each.Structure = "of an earlier Ebb"
	if _, err := inspect.PlanView(ctx, store, each); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}

// wantNodes checks the nodes of a picture, each with its state and count.
func wantNodes(t *testing.T, v draw.View, want ...string) {
	t.Helper()
	var got []string
	for _, n := range v.Nodes {
		got = append(got, strings.TrimSpace(n.ID+" "+n.State+" "+n.Count))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
