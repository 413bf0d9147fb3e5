package atom_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	do := func(_ context.Context, in atom.Values) (any, error) { return in.Object(), nil }
	for name, tc := range map[string]struct {
		opts []atom.Option
		args []atom.Arg
		back []atom.Arg
		give []atom.Provide
	}{
		"required and optional": {
			opts: []atom.Option{atom.Requires("a", "b"), atom.Optional("b", "c")},
			args: []atom.Arg{{Name: "a", Symbol: "a"}, {Name: "b", Symbol: "b", Optional: true}, {
				Name: "c", Symbol: "c",
				Optional: true,
			}},
			back: []atom.Arg{{Name: "a", Symbol: "a"}},
		},
		"renamed": {
			opts: []atom.Option{atom.Requires("a"), atom.Rebind("a", "x"), atom.Rebind("b", "y")},
			args: []atom.Arg{{Name: "a", Symbol: "x"}, {Name: "b", Symbol: "y"}},
			back: []atom.Arg{{Name: "a", Symbol: "x"}, {Name: "b", Symbol: "y"}},
		},
		"reverted with others": {
			opts: []atom.Option{atom.Requires("a"), atom.RevertRequires("b"), atom.RevertRebind("c", "z")},
			args: []atom.Arg{{Name: "a", Symbol: "a"}},
			back: []atom.Arg{{Name: "b", Symbol: "b"}, {Name: "c", Symbol: "z"}},
		},
		"the whole result": {
			opts: []atom.Option{atom.Provides("r")},
			give: []atom.Provide{{Symbol: "r"}},
		},
		"elements": {
			opts: []atom.Option{atom.Provides("r", "s")},
			give: []atom.Provide{{Symbol: "r", From: atom.ByIndex}, {Symbol: "s", From: atom.ByIndex, Index: 1}},
		},
		"one element": {
			opts: []atom.Option{atom.ProvidesElements("r")},
			give: []atom.Provide{{Symbol: "r", From: atom.ByIndex}},
		},
		"members": {
			opts: []atom.Option{atom.ProvidesFields("r")},
			give: []atom.Provide{{Symbol: "r", From: atom.ByKey, Key: "r"}},
		},
		"the result of no known type": {
			opts: []atom.Option{atom.As("r")},
			give: []atom.Provide{{Symbol: "r"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := atom.Untyped("a", do, nil, tc.opts...)
			if diff := cmp.Diff(tc.args, a.Args()); diff != "" {
				t.Errorf("arguments: %s", diff)
			}
			if back := a.RevertArgs(); len(back) != len(tc.back) || len(back) > 0 && !cmp.Equal(tc.back, back) {
				t.Errorf("arguments of Revert: %s", cmp.Diff(tc.back, back))
			}
			if diff := cmp.Diff(tc.give, a.Provides()); diff != "" {
				t.Errorf("provides: %s", diff)
			}
		})
	}
}

func TestRebindAField(t *testing.T) {
	t.Parallel()
	a := atom.Task("create", newCreateVolume(nil), atom.Rebind("size_gb", "disk_gb"), atom.Optional("Plain"))
	if arg := a.Args()[0]; arg.Name != "size_gb" || arg.Symbol != "disk_gb" {
		t.Errorf("%+v", arg)
	}
	if arg := a.Args()[3]; !arg.Optional {
		t.Errorf("%+v", arg)
	}
}

func TestInject(t *testing.T) {
	t.Parallel()
	a := atom.Func("f", func(context.Context, spec) (volume, error) { return volume{}, nil }, atom.Inject("size_gb", 20))
	if v, ok := a.Injected("size_gb"); !ok || v.String() != "20" {
		t.Errorf("injected %s, %t", v, ok)
	}
	if v, ok := a.Injected("zone"); ok {
		t.Errorf("injected %s", v)
	}
}

func TestUntyped(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	pass := atom.Untyped("pass", func(_ context.Context, in atom.Values) (any, error) {
		v, _ := in.Get("a")
		return v, nil
	}, nil, atom.Requires("a"))
	if out, err := pass.Body().Execute(t.Context(), atom.NewValues(pass.Args(),
		[]atom.Value{atom.MustEncode(1)})); err != nil || out.String() != "1" {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := pass.Body().Revert(t.Context(), atom.Values{}, atom.Unknown[atom.Value]()); out != nil || err != nil ||
		pass.Reverts() {
		t.Errorf("it can be undone: %s, %v", out, err)
	}
	fail := atom.Untyped("fail", func(context.Context, atom.Values) (any, error) { return nil, broken },
		func(_ context.Context, _ atom.Values, did atom.Outcome[atom.Value]) (any, error) {
			if did.Unknown() {
				return nil, broken
			}
			return "undone", nil
		})
	if _, err := fail.Body().Execute(t.Context(), atom.Values{}); !errors.Is(err, broken) {
		t.Errorf("execute: %v", err)
	}
	if _, err := fail.Body().Revert(t.Context(), atom.Values{}, atom.Unknown[atom.Value]()); !errors.Is(err, broken) {
		t.Errorf("revert: %v", err)
	}
	if out, err := fail.Body().Revert(t.Context(), atom.Values{}, atom.Done(atom.Null)); err != nil ||
		out.String() != `"undone"` || !fail.Reverts() {
		t.Errorf("revert: %s, %v", out, err)
	}
}
