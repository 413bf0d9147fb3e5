package inspect_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestPlanView draws the run of a flow without its code: the diagram of the plan, with what became of each atom. It is
// stored once. Where none is stored, that is the error.
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
	run := func(id string, root flow.Node) *storage.Run {
		t.Helper()
		eng, err := engine.New(root, engine.WithStore(store), engine.WithInputs(items))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Run(ctx, id, engine.With(items, []int{1, 2, 3})); err == nil {
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
		want = want.Coloured(map[string]string{
			"charge": "REVERTED", "ship": "REVERTED", "fails": "FAILURE", "parcels_retry": "SUCCESS",
		})
		got, err := inspect.PlanView(ctx, store, run(id, order))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	records, err := store.NamedRecords(ctx, storage.RecordQuery{Kind: "ebb.plan"})
	if err != nil || len(records) != 1 {
		t.Errorf("%d records, %v", len(records), err)
	}
	each := run("c", flow.Linear("each", flow.Each("all", items, undoable("one")), fails))
	got, err := inspect.PlanView(ctx, store, each)
	if err != nil || len(got.Nodes) != 2 || got.Nodes[0].State != "REVERTED" || got.Nodes[0].Count != "3 REVERTED" ||
		got.Nodes[1].State != "FAILURE" || got.Nodes[1].Count != "" {
		t.Errorf("%+v, %v", got, err)
	}
	each.Structure = "of an earlier Ebb"
	if _, err := inspect.PlanView(ctx, store, each); !errors.Is(err, storage.ErrNotFound) {
		t.Error(err)
	}
}
