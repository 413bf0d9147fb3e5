package atom_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestValues(t *testing.T) {
	t.Parallel()
	args := []atom.Arg{{Name: "a"}, {Name: "b", Optional: true}, {Name: `qu"ote`}, {Name: "ü<"}}
	values := atom.NewValues(args, []atom.Value{atom.MustEncode(1), nil, atom.Null, atom.MustEncode("x")})

	if v, ok := values.Get("a"); !ok || v.String() != "1" {
		t.Errorf("a is %s, %t", v, ok)
	}
	if v, ok := values.Get("b"); ok {
		t.Errorf("b was passed as %s", v)
	}
	if v, ok := values.Get("c"); ok {
		t.Errorf("c was passed as %s", v)
	}
	var got map[string]any
	if err := json.Unmarshal(values.Object().JSON(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a": 1.0, `qu"ote`: nil, "ü<": "x"}, got); diff != "" {
		t.Error(diff)
	}
	var names []string
	for name := range values.All {
		names = append(names, name)
		if len(names) == 2 {
			break
		}
	}
	if !slices.Equal(names, []string{"a", `qu"ote`}) {
		t.Errorf("All begins with %q", names)
	}
}

func TestValuesWithout(t *testing.T) {
	t.Parallel()
	if got := (atom.Values{}).Object().String(); got != "{}" {
		t.Errorf("no arguments are the object %s", got)
	}
	if got := (atom.Values{}).Input(); got != nil {
		t.Errorf("no arguments have the input %s", got)
	}
	if got := atom.Single(atom.MustEncode(3)).Input().String(); got != "3" {
		t.Errorf("the single argument is %s", got)
	}
}
