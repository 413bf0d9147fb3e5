package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
)

// TestEachOfAFlow runs a flow for each item, with a symbol from around it, and with an Each inside it for each part of
// the item. A later failure undoes all of them.
func TestEachOfAFlow(t *testing.T) {
	type box struct {
		Label string   `json:"label"`
		Parts []string `json:"parts"`
	}
	boxes := atom.NewKey[[]box]("boxes")
	eachStore(t, func(t *testing.T, store backend.Store) {
		w := newWarehouse()
		step := func(name string) *atom.Atom {
			return atom.Pair(name, func(_ context.Context, in struct {
				Order string `json:"order"`
				Label string `json:"label"`
			},
			) (struct{}, error) {
				w.note(name + " " + in.Order + " " + in.Label)
				return struct{}{}, nil
			}, func(_ context.Context, in struct {
				Order string `json:"order"`
				Label string `json:"label"`
			}, _ atom.Outcome[struct{}],
			) error {
				w.note("undo " + name + " " + in.Label)
				return nil
			})
		}
		body := flow.Linear("pack", step("open"),
			flow.Each("packed", atom.NewKey[[]string]("parts"), partOf(w)).WithParallelism(1), step("close"))
		fails := atom.Func("fails", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errors.New("no") })
		packed := []box{{"x", []string{"1", "2"}}, {"y", []string{"3"}}}

		e := newEngine(t, flow.Linear("order", flow.Each("all", boxes, body).WithParallelism(1)), engine.WithStore(store),
			engine.WithInputs(boxes, orderKey))
		res, err := e.Run(t.Context(), "good", engine.With(boxes, packed), engine.With(orderKey, "o"))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := res.Value("all"); v.String() != `[{"packed":["x1","x2"]},{"packed":["y3"]}]` {
			t.Errorf("got %v", v)
		}
		if diff := cmp.Diff([]string{"open o x", "part x1", "part x2", "close o x", "open o y", "part y3", "close o y"}, w.lines); diff != "" {
			t.Error(diff)
		}

		w.lines = nil
		e = newEngine(t, flow.Linear("order", flow.Each("all", boxes, body).WithParallelism(1), fails), engine.WithStore(store),
			engine.WithInputs(boxes, orderKey))
		_, err = e.Run(t.Context(), "bad", engine.With(boxes, packed), engine.With(orderKey, "o"))
		if _, is := errors.AsType[*engine.RevertedError](err); !is {
			t.Fatal(err)
		}
		want := []string{
			"undo close y", "undo part y3", "undo open y", "undo close x", "undo part x2", "undo part x1", "undo open x",
		}
		if diff := cmp.Diff(want, w.lines[7:]); diff != "" {
			t.Error(diff)
		}
	})
}

// partOf packs one part of a box.
func partOf(w *warehouse) *atom.Atom {
	type part struct {
		Label string `json:"label"`
		Item  string `json:"item"`
	}
	return atom.Pair("part", func(_ context.Context, in part) (string, error) {
		w.note("part " + in.Label + in.Item)
		return in.Label + in.Item, nil
	}, func(_ context.Context, in part, _ atom.Outcome[string]) error {
		w.note("undo part " + in.Label + in.Item)
		return nil
	})
}

// TestEachOverStoredResults runs a body for each result of another Each, which are too many for one value.
func TestEachOverStoredResults(t *testing.T) {
	eachStore(t, func(t *testing.T, store backend.Store) {
		numbers, doubled := atom.NewKey[[]int]("numbers"), atom.NewKey[[]int]("doubled")
		double := func(name string) *atom.Atom {
			return atom.Func(name, func(_ context.Context, n int) (int, error) {
				if n%700 == 699 {
					return 0, errors.New("tolerated")
				}
				return 2 * n, nil
			})
		}
		sum := atom.Func("sum", func(_ context.Context, in struct {
			Again []int `json:"again"`
		},
		) (int, error) {
			total := 0
			for _, n := range in.Again {
				total += n
			}
			return total, nil
		}, atom.As("sum"))
		e := newEngine(t, flow.Linear("f", flow.Each("first", numbers, double("a")).Tolerate(9).As("doubled"),
			flow.Each("again", doubled, double("b")).WithParallelism(100), sum), engine.WithInputs(numbers), engine.WithStore(store))
		list, want := make([]int, 1500), 0
		for i := range list {
			list[i] = i
			if i%700 != 699 {
				want += 4 * i
			}
		}
		res, err := e.Run(t.Context(), "r", engine.With(numbers, list))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := engine.Get(res, atom.NewKey[int]("sum")); err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	})
}

// TestEachPassesOptional: what is optional to a body reaches it through flows within flows, from an input of the run.
func TestEachPassesOptional(t *testing.T) {
	t.Parallel()
	type item struct {
		N int `json:"n"`
	}
	type page struct {
		Items []item `json:"items"`
	}
	pages, items, reason := atom.NewKey[[]page]("pages"), atom.NewKey[[]item]("items"), atom.NewKey[string]("reason")
	for given, opts := range map[string][]engine.RunOption{"": nil, "why": {engine.With(reason, "why")}} {
		var got []string
		leaf := atom.Func("leaf", func(_ context.Context, in struct {
			N      int    `json:"n"`
			Reason string `json:"reason,omitempty"`
		},
		) (int, error) {
			got = append(got, in.Reason)
			return in.N, nil
		})
		each := flow.Each("each", items, flow.Linear("item", leaf))
		eng := newEngine(t, flow.Linear("f", flow.Each("every", pages, flow.Linear("page", each))),
			engine.WithInputs(pages, reason))
		_, err := eng.Run(t.Context(), "r", append(opts, engine.With(pages, []page{{[]item{{1}}}}))...)
		if err != nil || !slices.Equal(got, []string{given}) {
			t.Errorf("given %q, the body got %q, %v", given, got, err)
		}
	}
}
