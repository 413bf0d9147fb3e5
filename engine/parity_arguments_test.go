package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A purchase is the value of the tasks below. The fields of the struct are the symbols.
type purchase struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

// show returns an untyped task with the given behavior.
func (s *stage) show(name string, opts ...atom.Option) *atom.Atom {
	return atom.Untyped(name, func(_ context.Context, in atom.Values) (any, error) {
		act := name
		for arg, v := range in.All {
			act += fmt.Sprintf(" %s=%s", arg, v)
		}
		s.act(act)
		return nil, nil
	}, nil, opts...)
}

func with(symbol string, value any) engine.Option {
	return engine.With(atom.NewKey[any](symbol), value)
}

// arguments are the ways in which atoms get and pass on values.
var arguments = shown{
	"task": func(t *testing.T, s *stage) {
		s.do = script{"b": alwaysFails}
		undone(t, flow.Linear("f", s.atom("a"), s.atom("b")))
		wantActs(t, s, "a", "b", "undo b failed", "undo a done")
	},
	"function": func(t *testing.T, s *stage) { // with or without a revert
		do := func(_ context.Context, in purchase) (int, error) { s.act("do " + in.Item); return 2 * in.Count, nil }
		undo := func(_ context.Context, in purchase, did atom.Outcome[int]) error {
			got, _ := did.Done()
			s.act(fmt.Sprintf("undo %s %d", in.Item, got))
			return nil
		}
		s.do = script{"c": alwaysFails}
		undone(t, flow.Linear("f", atom.Func("a", do), atom.Pair("b", do, undo), s.atom("c")), with("item", "tea"), with("count", 2))
		wantActs(t, s, "do tea", "do tea", "c", "undo c failed", "undo tea 4")
	},
	"hooks": func(t *testing.T, s *stage) {
		around := func(ctx context.Context, next func(context.Context) error) error {
			c := atom.CurrentCall(ctx)
			s.act(fmt.Sprintf("before %s %t", c.Path, c.Revert))
			defer s.act(fmt.Sprintf("after %s %t", c.Path, c.Revert))
			return next(ctx)
		}
		s.do = script{"b": alwaysFails}
		undone(t, flow.Linear("f", s.atom("a", atom.Wrap(around)), s.atom("b")))
		wantActs(t, s, "before a false", "a", "after a false", "b", "undo b failed", "before a true", "undo a done", "after a true")
	},
	"map and reduce": func(t *testing.T, _ *stage) {
		square := atom.Map("squares", func(_ context.Context, n int) (int, error) { return n * n, nil },
			atom.Requires("a", "b"), atom.ProvidesElements("a2", "b2"))
		sum := atom.Reduce("sum", func(_ context.Context, a, b int) (int, error) { return a + b, nil },
			atom.Requires("a2", "b2"), atom.As("total"))
		wantValue(t, play(t, flow.Linear("f", square, sum), with("a", 3), with("b", 4)), "total", "25")
	},
	"arguments from fields": func(t *testing.T, s *stage) {
		take := atom.Func("take", func(_ context.Context, in purchase) (struct{}, error) { s.act(in.Item); return struct{}{}, nil })
		play(t, take, with("item", "tea"), with("count", 2))
		wantActs(t, s, "tea")
	},
	"rebind": func(t *testing.T, s *stage) {
		play(t, s.show("a", atom.Rebind("to", "address")), with("address", "here"))
		wantActs(t, s, `a to="here"`)
	},
	"optional": func(t *testing.T, s *stage) {
		play(t, flow.Linear("f", s.show("a", atom.Optional("x")), s.show("b", atom.Optional("y"))), with("y", 1))
		wantActs(t, s, "a", "b y=1")
	},
	"revert arguments": func(t *testing.T, s *stage) {
		undo := func(_ context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (any, error) {
			x, _ := in.Get("to")
			s.act("undo " + x.String())
			return nil, nil //nolint:nilnil // it only shows
		}
		do := func(context.Context, atom.Values) (any, error) { return nil, errRefused }
		undone(t, atom.Untyped("a", do, undo, atom.RevertRebind("to", "x")), with("x", 1))
		wantActs(t, s, "undo 1")
	},
	"inject": func(t *testing.T, s *stage) { // takes precedence over everything, and only this atom sees it
		play(t, flow.Linear("f", s.show("a", atom.Requires("x"), atom.Inject("x", "mine")), s.show("b", atom.Requires("x"))), with("x", "all's"))
		wantActs(t, s, `a x="mine"`, `b x="all's"`)
	},
	"provide whole or by index or by key": func(t *testing.T, s *stage) {
		whole := atom.Func("a", func(context.Context, struct{}) (int, error) { return 1, nil }, atom.As("x"))
		list := atom.Untyped("b", func(context.Context, atom.Values) (any, error) { return []int{2, 3}, nil }, nil, atom.Provides("y", "z"))
		keys := atom.Untyped("c", func(context.Context, atom.Values) (any, error) { return purchase{"tea", 4}, nil }, nil, atom.ProvidesFields("item"))
		fields := atom.Func("d", func(context.Context, struct{}) (purchase, error) { return purchase{"jam", 5}, nil })
		res := play(t, flow.Linear("f", whole, list, keys, s.show("e", atom.Requires("x", "z", "item")), fields))
		wantActs(t, s, `e x=1 z=3 item="tea"`)
		wantValue(t, res, "count", "5") // by default, provides the fields of the struct
	},
	"typed": func(t *testing.T, _ *stage) {
		gives := atom.Func("a", func(context.Context, struct{}) (string, error) { return "", nil }, atom.As("count"))
		wants := atom.Func("b", func(context.Context, purchase) (struct{}, error) { return struct{}{}, nil })
		wantRefused(t, flow.ErrType, flow.Linear("f", gives, wants), with("item", ""))
	},
	"scopes": func(t *testing.T, s *stage) { // the nearest provider before it, outward
		say := func(name, what string) *atom.Atom {
			return atom.Func(name, func(context.Context, struct{}) (string, error) { return what, nil }, atom.As("x"))
		}
		inner := flow.Linear("g", s.show("b", atom.Requires("x")), say("c", "inner"), s.show("d", atom.Requires("x")))
		play(t, flow.Linear("f", say("a", "outer"), inner, s.show("e", atom.Requires("x"))))
		wantActs(t, s, `b x="outer"`, `d x="inner"`, `e x="inner"`)
	},
	"inputs": func(t *testing.T, s *stage) { // stored with the run; they take precedence over every provider
		x := atom.NewKey[string]("x")
		store := memstore.New()
		eng := newEngine(t, flow.Linear("f", s.atom("a", atom.Provides("x")), s.show("b", atom.Requires("x"))), engine.WithInputs(x), engine.WithStore(store))
		if _, err := eng.Run(t.Context(), "r", engine.With(x, "given")); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "a", `b x="given"`)
		if run, err := store.Run(t.Context(), "r"); err != nil || run.Input.Data.String() != `{"x":"given"}` {
			t.Errorf("the input is %s, %v", run.Input.Data, err)
		}
	},
	"fetch": func(t *testing.T, s *stage) {
		x, nothing := atom.NewKey[string]("x"), atom.NewKey[string]("nothing")
		res := play(t, s.atom("a", atom.Provides("x")))
		if v, err := engine.Get(res, x); v != "a" || err != nil {
			t.Errorf("got %q, %v", v, err)
		}
		if _, err := engine.Get(res, nothing); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	},
}
