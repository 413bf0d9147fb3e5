package atom_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	var seen []string
	note := func(name string) atom.Option {
		return atom.Wrap(func(ctx context.Context, next func(context.Context) error) error {
			seen = append(seen, name+" before")
			err := next(ctx)
			seen = append(seen, name+" after")
			return err
		})
	}
	a := atom.Pair("a",
		func(context.Context, struct{}) (int, error) { seen = append(seen, "do"); return 7, nil },
		func(_ context.Context, _ struct{}, did atom.Outcome[int]) error {
			seen = append(seen, "undo a "+did.String())
			return nil
		}, note("outer"), note("inner"), atom.As("n"))
	got, err := a.Body().Execute(t.Context(), atom.Values{})
	if err != nil || got.String() != "7" {
		t.Errorf("executed: %v, %v", got, err)
	}
	if _, err := a.Body().Revert(t.Context(), atom.Values{}, atom.Done(got)); err != nil {
		t.Error(err)
	}
	around := []string{"outer before", "inner before", "do", "inner after", "outer after"}
	want := append(slices.Clone(around), "outer before", "inner before", "undo a done", "inner after", "outer after")
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if p := a.Provides(); len(p) != 1 || p[0].Type == nil {
		t.Errorf("the wrapped task provides %+v; want one symbol with its type", p)
	}
	if !a.Reverts() || atom.Retry("r", nil, note("x")).Body() != nil {
		t.Error("wrapping changes what can be undone, or wraps a retry")
	}
}

func TestWrapperDecides(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	for name, tc := range map[string]struct {
		body   error
		wrap   atom.Wrapper
		result string
		err    error
	}{
		"passes on": {
			nil, func(ctx context.Context, next func(context.Context) error) error { return next(ctx) },
			"7", nil,
		},
		"passes on a failure": {
			no, func(ctx context.Context, next func(context.Context) error) error { return next(ctx) },
			"", no,
		},
		"fails afterwards": {nil, func(ctx context.Context, next func(context.Context) error) error {
			return errors.Join(next(ctx), no)
		}, "", no},
		"mends": {no, func(ctx context.Context, next func(context.Context) error) error {
			_ = next(ctx)
			return nil
		}, "", nil},
		"does not call": {no, func(context.Context, func(context.Context) error) error { return nil }, "", nil},
	} {
		a := atom.Func("a", func(context.Context, struct{}) (int, error) { return 7, tc.body }, atom.Wrap(tc.wrap))
		got, err := a.Body().Execute(t.Context(), atom.Values{})
		if got.String() != tc.result || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, tc.result, tc.err)
		}
	}
}
