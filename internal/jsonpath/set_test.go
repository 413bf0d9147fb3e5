package jsonpath_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, doc, want string }{
		{"$", `{"a": 1}`, `"new"`},
		{"$", `null`, `"new"`},
		{"$.a", `{"a": 1, "b": 2}`, `{"a": "new", "b": 2}`},
		{"$.c", `{"a": 1}`, `{"a": 1, "c": "new"}`},
		{"$.a", `{}`, `{"a": "new"}`},
		{"$.a", `{"a": null}`, `{"a": "new"}`},
		{"$.a.b.c", `{}`, `{"a": {"b": {"c": "new"}}}`},
		{"$.a.b.c", `{"a": {"x": 1}}`, `{"a": {"x": 1, "b": {"c": "new"}}}`},
		{"$['a b']['']", `{}`, `{"a b": {"": "new"}}`},
		{`$.a:b`, `{}`, `{"a:b": "new"}`},
		{"$.list[1]", `{"list": [1, 2, 3]}`, `{"list": [1, "new", 3]}`},
		{"$[0]", `[1]`, `["new"]`},
		{"$[0].a.b", `[{"x": 1}, 2]`, `[{"x": 1, "a": {"b": "new"}}, 2]`},
		{"$[1][0]", `[0, [1, 2]]`, `[0, ["new", 2]]`},
	} {
		t.Run(c.path+" in "+c.doc, func(t *testing.T) {
			t.Parallel()
			doc := decode(t, c.doc)
			got, err := mustParse(t, c.path).Set(doc, "new")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, c.want), got, unordered); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, c.doc), doc, unordered); diff != "" {
				t.Errorf("the document changed:\n%s", diff)
			}
		})
	}
}

func TestSetSharesWhatIsUnchanged(t *testing.T) {
	t.Parallel()
	doc := decode(t, `{"a": {"x": {"deep": 1}, "b": {"c": 1}}, "other": [1, 2]}`)
	got, err := mustParse(t, "$.a.b.c").Set(doc, 2)
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	member := func(object any, name string) any {
		value, _ := object.(*jsontext.OrderedMap).Get(name)
		return value
	}
	if !same(member(got, "other"), member(doc, "other")) {
		t.Error("an array beside the path was copied")
	}
	if !same(member(member(got, "a"), "x"), member(member(doc, "a"), "x")) {
		t.Error("an object beside the path was copied")
	}
	if same(member(got, "a"), member(doc, "a")) {
		t.Error("an object on the path was not copied")
	}
}

func TestSetWhereItDoesNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, doc, at, problem string }{
		{"$.a", `"text"`, "$", "is a string, not an object"},
		{"$.a", `null`, "$", "is null, not an object"},
		{"$.a", `[1]`, "$", "is an array, not an object"},
		{"$.a.b", `{"a": 7}`, "$['a']", "is a number, not an object"},
		{"$.a.b.c", `{"a": {"b": true}}`, "$['a']['b']", "is a boolean, not an object"},
		{"$.a.b", `{"a": null}`, "$['a']", "is null, not an object"},
		{"$.a[0]", `{"a": {}}`, "$['a']", "is an object, not an array"},
		{"$.a[2]", `{"a": [1, 2]}`, "$['a'][2]", "does not exist; only an element that is there can be replaced"},
		{"$[0].a", `[7]`, "$[0]", "is a number, not an object"},
		{"$.a[0]", `{}`, "$['a']", "does not exist; only an element that is there can be replaced"},
		{"$.a.b[0]", `{}`, "$['a']['b']", "does not exist; only an element that is there can be replaced"},
	} {
		t.Run(c.path+" in "+c.doc, func(t *testing.T) {
			t.Parallel()
			doc := decode(t, c.doc)
			got, err := mustParse(t, c.path).Set(doc, "new")
			var mismatch *jsonpath.MatchError
			if !errors.As(err, &mismatch) {
				t.Fatalf("Set = %v, %v; want a *MatchError", got, err)
			}
			want := &jsonpath.MatchError{Path: c.path, At: c.at, Problem: c.problem}
			if diff := cmp.Diff(want, mismatch); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if want := fmt.Sprintf("jsonpath: %s cannot be set: %s %s", c.path, c.at, c.problem); err.Error() != want {
				t.Errorf("Error() = %q, want %q", err, want)
			}
			if diff := cmp.Diff(decode(t, c.doc), doc, unordered); diff != "" {
				t.Errorf("the document changed:\n%s", diff)
			}
		})
	}
}

func TestSetRefusesOtherPaths(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"$$", "$$.a", "$v", "$v.a", "$.a[-1]", "$.a[*]", "$..a", "$['a','b']", "$.a[(@.length-1)]"} {
		got, err := mustParse(t, text).Set(jsontext.OrderedMapOf("a", []any{1}), "new")
		if problem := new(jsonpath.ParseError); !errors.As(err, &problem) {
			t.Errorf("Set by %s = %v, %v; want a *ParseError", text, got, err)
		}
	}
}

// Get returns what Set wrote. Nothing else differs, and the original document is unchanged.
func TestGetAfterSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(4).Draw(t, "document")
		before := printed(doc)
		text := "$"
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			text += rapid.OneOf(
				rapid.Map(rapid.SampledFrom(memberNames), func(name string) string { return "['" + name + "']" }),
				rapid.Map(rapid.IntRange(0, 3), func(i int) string { return fmt.Sprintf("[%d]", i) }),
			).Draw(t, "step")
		}
		path, err := jsonpath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		changed, err := path.Set(doc, "set")
		if after := printed(doc); after != before {
			t.Fatalf("the document became %s", after)
		}
		if err != nil {
			if mismatch := new(jsonpath.MatchError); !errors.As(err, &mismatch) {
				t.Fatalf("Set failed with %v", err)
			}
			if has, err := path.Has(doc); has || err != nil {
				t.Fatalf("Set refuses a place that is there (%v)", err)
			}
			return
		}
		if got, err := path.Get(changed); got != "set" || err != nil {
			t.Fatalf("Get = %v, %v", got, err)
		}
		old, err := path.Get(doc)
		if err != nil {
			return // grown, not replaced
		}
		restored, err := path.Set(changed, old)
		if err != nil || printed(restored) != before {
			t.Fatalf("setting the old value back gives %s (%v)", printed(restored), err)
		}
	})
}

var memberNames = []string{"a", "b", "c d", "Ж", ""}

// document draws JSON values nested no deeper than depth.
func document(depth int) *rapid.Generator[any] {
	scalar := rapid.SampledFrom([]any{nil, true, "text", json.Number("1"), json.Number("-2.5")})
	if depth == 0 {
		return scalar
	}
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return scalar.Draw(t, "scalar")
		case 1:
			return rapid.SliceOfN(document(depth-1), 0, 4).Draw(t, "array")
		default:
			object := &jsontext.OrderedMap{}
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(memberNames), 0, 4, rapid.ID).Draw(t, "names") {
				object.Set(name, document(depth-1).Draw(t, "member"))
			}
			return object
		}
	})
}

func printed(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(text))
}
