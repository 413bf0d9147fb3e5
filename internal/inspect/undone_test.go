package inspect_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestUndoneAndDoneAgain lists what a retry undid as undone, once, although it has been done again since.
func TestUndoneAndDoneAgain(t *testing.T) {
	t.Parallel()
	for fails, want := range map[int]string{
		1: "SUCCESS: box SUCCESS, [box REVERTED]",
		2: "SUCCESS: box SUCCESS, [box REVERTED]",
		3: "REVERTED: box REVERTED, [box REVERTED]",
	} {
		box := atom.Pair("box", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
			func(context.Context, struct{}, atom.Outcome[struct{}]) error { return nil })
		n := 0
		ship := atom.Func("ship", func(context.Context, struct{}) (struct{}, error) {
			if n++; n <= fails {
				return struct{}{}, atom.Errorf("No", "no")
			}
			return struct{}{}, nil
		}, atom.NoEffect())
		store := memstore.New()
		e, err := engine.New(flow.Linear("order", flow.Linear("parcel", box, ship).WithRetry(atom.Times(3, atom.Backoff{}))), store)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = e.Run(t.Context(), "o")
		run, err := store.Run(t.Context(), "o")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := inspect.Recorded(t.Context(), store, &run, nil)
		if err != nil {
			t.Fatal(err)
		}
		var undone []string
		for _, s := range tree.Undone {
			if s.Path == "box" {
				undone = append(undone, s.Path+" "+string(s.Status()))
			}
		}
		got := ""
		steps, _ := tree.Top.Shown()
		for len(steps) > 0 {
			s := steps[0]
			inside, _ := s.Shown()
			if steps = append(inside, steps[1:]...); s.Path == "box" {
				got = fmt.Sprintf("%v: %s %s, %v", run.State, s.Path, s.Status(), undone)
			}
		}
		if got != want {
			t.Errorf("after %d failures: %q; want %q", fails, got, want)
		}
	}
}
