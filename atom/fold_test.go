package atom_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
)

func length(_ context.Context, s string) (int, error) {
	if s == "" {
		return 0, errors.New("empty")
	}
	return len(s), nil
}

func join(_ context.Context, a, b string) (string, error) {
	if b == "" {
		return "", errors.New("empty")
	}
	return a + b, nil
}

func TestMapAndReduce(t *testing.T) {
	t.Parallel()
	lengths := atom.Map("lengths", length, atom.Requires("a", "b"), atom.Optional("c"), atom.As("lengths"))
	joined := atom.Reduce("joined", join, atom.Optional("a"), atom.Rebind("b", "other"), atom.Optional("b", "c"),
		atom.As("joined"))
	for name, tc := range map[string]struct {
		task   *atom.Atom
		values []any
		want   string
		fails  string
	}{
		"map":                    {lengths, []any{"x", "yy", "zzz"}, "[1,2,3]", ""},
		"map without the last":   {lengths, []any{"x", "yy", nil}, "[1,2]", ""},
		"map fails":              {lengths, []any{"x", "", nil}, "", "empty"},
		"map of another type":    {lengths, []any{"x", 2, nil}, "", `the argument "b"`},
		"reduce":                 {joined, []any{"x", "yy", "zzz"}, `"xyyzzz"`, ""},
		"reduce only the middle": {joined, []any{nil, "yy", nil}, `"yy"`, ""},
		"reduce nothing":         {joined, []any{nil, nil, nil}, "", "none of the arguments"},
		"reduce fails":           {joined, []any{"x", "yy", ""}, "", "empty"},
	} {
		values := make([]atom.Value, len(tc.values))
		for i, v := range tc.values {
			if v != nil {
				values[i] = atom.MustEncode(v)
			}
		}
		got, err := tc.task.Body().Execute(t.Context(), atom.NewValues(tc.task.Args(), values))
		if tc.fails == "" && (err != nil || got.String() != tc.want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tc.want)
		}
		if tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
			t.Errorf("%s: %s, %v; want an error with %q", name, got, err, tc.fails)
		}
	}
	if lengths.Reverts() || joined.Reverts() {
		t.Error("what is only computed is said to be undone")
	}
}

func TestMapAndReduceTypes(t *testing.T) {
	t.Parallel()
	a := atom.Map("lengths", length, atom.Requires("a"), atom.As("lengths"))
	if got := a.Args()[0]; got.Symbol != "a" || got.Type != reflect.TypeFor[string]() {
		t.Errorf("argument %+v", got)
	}
	if got := a.Provides()[0]; got.Type != reflect.TypeFor[[]int]() {
		t.Errorf("provides %+v", got)
	}
	b := atom.Reduce("joined", join, atom.Requires("a"), atom.Rebind("b", "other"), atom.As("joined"))
	if got := b.Args()[1]; got.Name != "b" || got.Symbol != "other" {
		t.Errorf("argument %+v", got)
	}
	for name, define := range map[string]func(){
		"map":    func() { atom.Map("m", length) },
		"reduce": func() { atom.Reduce("m", join, atom.Requires("a")) },
	} {
		func() {
			defer func() {
				if p, ok := recover().(string); !ok || !strings.Contains(p, "atom.Requires") {
					t.Errorf("%s: panicked with %q", name, p)
				}
			}()
			define()
		}()
	}
}
