package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestInputOfAnotherType: an input of a wrong type is refused before anything is stored, and names the input, its type
// and the fix. The run can then start with the right type.
//
// Guarantee (G8): An input that is missing or has another type than the flow requires is refused before the run exists.
func TestInputOfAnotherType(t *testing.T) {
	t.Parallel()
	s, store := &stage{}, memstore.New()
	for name, declared := range map[string]engine.Option{
		"declared": engine.WithInputs(atom.NewKey[int]("size")), "open": engine.WithInputs(engine.AnyInput),
	} {
		eng := newEngine(t, flow.Linear("f", s.resizes()), engine.WithStore(store), declared)
		for how, bad := range map[string]engine.RunOption{
			"with": engine.With(atom.NewKey[string]("size"), "one"), "whole": engine.Input(atom.MustEncode(map[string]any{"size": "one"})),
		} {
			_, err := eng.Run(t.Context(), name, bad)
			if !errors.Is(err, flow.ErrType) || !strings.Contains(err.Error(), `engine.With(atom.NewKey[int]("size"), …)`) {
				t.Errorf("%s, %s: got %v", name, how, err)
			}
			if _, err := eng.NewRun(name, bad); !errors.Is(err, flow.ErrType) {
				t.Errorf("%s, %s: NewRun returned %v", name, how, err)
			}
			if _, err := store.Run(t.Context(), name); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%s, %s: the run exists, %v", name, how, err)
			}
		}
		if _, err := eng.Run(t.Context(), name, engine.With(atom.NewKey[int]("size"), 1)); err != nil {
			t.Error(err)
		}
	}
}

// TestRunOfAnotherFlow: a run that belongs to another flow is refused by name, also if both have one structure.
func TestRunOfAnotherFlow(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	for i, name := range []string{"order", "billing"} {
		_, err := newEngine(t, flow.Linear(name, atom.Func("a", noop)), engine.WithStore(store)).Run(t.Context(), "r")
		if i > 0 && (!errors.Is(err, engine.ErrChanged) || !strings.Contains(err.Error(), `run "r" belongs to flow "order"`)) {
			t.Errorf("got %v; want an error that names the flow", err)
		}
	}
}

type spelled struct{ N int }

func (s spelled) MarshalText() ([]byte, error) {
	if s.N < 0 {
		return []byte("none"), nil
	}
	return []byte{byte('0' + s.N)}, nil
}

func (s *spelled) UnmarshalText(text []byte) error {
	if text[0] < '0' || text[0] > '9' {
		return errRefused
	}
	s.N = int(text[0] - '0')
	return nil
}

type unreadable struct{ N int }

func (unreadable) MarshalText() ([]byte, error) { return []byte("x"), nil }

// TestResultThatCannotBeRead: a type of a result that JSON encodes and cannot decode is refused by New, with the field.
// If only a value shows it, the attempt fails before the commit, and the undo is told that the outcome is unknown.
//
// Guarantee (G8): A result, input or value that JSON cannot decode again is refused: its type by New, its value by the
// attempt, before anything is stored.
// Also: `internal/gojson: TestUndecodable`, `TestNumbers`, `TestCheckText`.
func TestResultThatCannotBeRead(t *testing.T) {
	t.Parallel()
	type bad struct{ When []unreadable }
	type worse struct{ Err error }
	for want, root := range map[string]flow.Node{
		"in the field When": atom.Func("a", func(context.Context, struct{}) (bad, error) { return bad{}, nil }, atom.As("x")),
		"in the field Err":  atom.Func("a", func(context.Context, struct{}) (*worse, error) { return new(worse), nil }, atom.As("x")),
		"takes":             atom.Func("a", func(context.Context, worse) (struct{}, error) { return struct{}{}, nil }),
		"awaits":            atom.Awaits[unreadable]("awaits", "s", atom.Deferral{}, atom.As("x")),
		"tries values":      flow.Linear("f", atom.Func("a", noop)).WithRetry(atom.ForEach(unreadable{})),
	} {
		if _, err := engine.New(root, memstore.New(), engine.WithInputs(engine.AnyInput)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %q", err, want)
		}
	}
	for name, result := range map[string]func(ctx context.Context, _ struct{}) (any, error){
		"text that is not UTF-8": func(context.Context, struct{}) (any, error) { return "\xff", nil },
	} {
		wantUnknownResult(t, name, result)
	}
	wantUnknownResult(t, "not to be decoded", func(context.Context, struct{}) (spelled, error) { return spelled{-1}, nil })
	var got spelled
	eng := newEngine(t, flow.Linear("f", atom.Func("a", func(context.Context, struct{}) (spelled, error) { return spelled{7}, nil }, atom.As("x")),
		atom.Func("b", func(_ context.Context, in spelled) (struct{}, error) { got = in; return struct{}{}, nil }, atom.From("x"))))
	if _, err := eng.Run(t.Context(), "r"); err != nil || got.N != 7 {
		t.Errorf("got %v, %v", got, err)
	}
}

func wantUnknownResult[Out any](t *testing.T, name string, do func(context.Context, struct{}) (Out, error)) {
	t.Helper()
	unknown := false
	undo := func(_ context.Context, _ struct{}, did atom.Outcome[Out]) error { unknown = did.Unknown(); return nil }
	_, err := newEngine(t, atom.Pair("a", do, undo, atom.As("x"))).Run(t.Context(), "r")
	if f := reverted(t, err).Failures[0]; f.Code != atom.CodeBadResult || !unknown {
		t.Errorf("%s: failed with %v, unknown %t", name, f, unknown)
	}
}

// TestInputThatNothingUses: New refuses an input that no atom requires, unless an earlier flow of the catalog does.
func TestInputThatNothingUses(t *testing.T) {
	t.Parallel()
	takes := func(symbol string) flow.Node {
		return flow.Linear("f", atom.Func("a", func(context.Context, int) (struct{}, error) { return struct{}{}, nil }, atom.From(symbol)))
	}
	size, zone := engine.With(atom.NewKey[int]("size"), 1), engine.WithInputs(atom.NewKey[int]("zone"))
	for name, c := range map[string]struct {
		opts []engine.Option
		kind error
	}{
		"used":                {[]engine.Option{size}, nil},
		"given, unused":       {[]engine.Option{size, engine.With(atom.NewKey[int]("zone"), 2)}, flow.ErrUnused},
		"declared, unused":    {[]engine.Option{size, zone}, flow.ErrUnused},
		"open":                {[]engine.Option{engine.WithInputs(engine.AnyInput), zone}, flow.ErrUnused},
		"of an earlier flow":  {[]engine.Option{size, zone, engine.WithCatalog(engine.Flows(takes("zone")))}, nil},
		"of no earlier flow":  {[]engine.Option{size, zone, engine.WithCatalog(engine.Flows(takes("size")))}, flow.ErrUnused},
		"perhaps of another":  {[]engine.Option{size, zone, engine.WithCatalog(heldCatalog{takes("zone")})}, nil},
		"missing in any case": {[]engine.Option{engine.WithCatalog(engine.Flows(takes("zone")))}, flow.ErrMissing},
	} {
		eng, err := engine.New(takes("size"), memstore.New(), c.opts...)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v; want %v", name, err, c.kind)
		}
		if err != nil {
			continue
		}
		_, err = eng.Run(t.Context(), "r", engine.With(atom.NewKey[int]("sise"), 1))
		if !errors.Is(err, flow.ErrUnused) || !strings.Contains(err.Error(), `did you mean "size"?`) {
			t.Errorf("%s: a misspelled input of the run: %v", name, err)
		}
	}
}

// A heldCatalog has one flow.
type heldCatalog struct{ root flow.Node }

func (c heldCatalog) Flow(context.Context, *storage.Run) (flow.Node, error) { return c.root, nil }
