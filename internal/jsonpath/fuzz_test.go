package jsonpath

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// sameSteps compares the meaning of paths, not the positions in their texts.
var sameSteps = cmp.Options{
	cmp.AllowUnexported(query{}, step{}, selector{}, slice{}, negation{}, existence{}, comparison{}, operand{}, pattern{}),
	cmpopts.IgnoreFields(step{}, "offset"),
	cmpopts.IgnoreFields(pattern{}, "regexp"),
}

// For any text, Parse returns an error with a position inside the text, or a path. Both spellings of the path parse to
// the same path. Its evaluation ends within the budget, with one of the documented results.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"$", "$$.a", "$v[0]", "$.a.b[0].c", "$.a..b", "$..*", "$['a','b']", "$['a','b'].c", "$[-1:0:-2]", "$[0,1,*]",
		`$.a\.b.\uD800\uDF46`, `$["\u0041\n'\""]`, "$[?(@.a == 'x' && !(@.b < 1e3 || @..c) || $.d[0])]",
		"$[?(@.a =~ /x\\/y.*/i)].b", "$[?(@.a in ['b', c, null, [1]])]", "$[?(@.n empty true)].length()", "$..n.sum()",
		"$[?(@[?(@.x)])]", "$.a.", "$[", "$[?(", "$.a\xff",
	} {
		f.Add(text, `{"a": {"b": [{"c": 1}]}, "n": [1, 2.5, "3"], "d": [true, null]}`)
	}
	f.Fuzz(func(t *testing.T, text, document string) {
		path, err := Parse(text)
		if err != nil {
			problem := new(ParseError)
			if !errors.As(err, &problem) || problem.Offset < 0 || problem.Offset > len(text) || problem.Problem == "" {
				t.Fatalf("Parse failed with %#v", err)
			}
			return
		}
		for _, spelling := range []string{path.String(), path.Normalized()} {
			if len(spelling) > MaxLength {
				continue // brackets and quotes take space
			}
			again, err := Parse(spelling)
			if err != nil {
				t.Fatalf("%q is printed as %q: %v", text, spelling, err)
			}
			if diff := cmp.Diff(path.query, again.query, sameSteps); diff != "" || path.root != again.root ||
				path.variable != again.variable {
				t.Fatalf("%q is printed as %q, which is another path:\n%s", text, spelling, diff)
			}
			if again.String() != path.String() {
				t.Fatalf("%q is printed as %q, that as %q", text, path, again)
			}
		}
		checkOutcome(t, path, document)
	})
}

func checkOutcome(t *testing.T, path *Path, document string) {
	t.Helper()
	doc, err := jsontext.DecodeOrdered([]byte(document), 10_000, func(literal string) any { return json.Number(literal) })
	if err != nil {
		return
	}
	before, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	value, err := path.Get(doc)
	missing := new(NotFoundError)
	switch {
	case err == nil:
		if _, list := value.([]any); !list && !path.Definite() {
			t.Fatalf("%q is not definite and gave %T", path, value)
		}
		if path.CheckReference() == nil && !path.Definite() {
			t.Fatalf("%q is a reference path and not definite", path)
		}
	case errors.Is(err, ErrBudget):
	case !errors.As(err, &missing) || !path.Definite():
		t.Fatalf("%q: Get failed with %#v", path, err)
	}
	has, hasErr := path.Has(doc)
	if hasErr == nil && has && missing.Reason != "" {
		t.Fatalf("%q: Has what Get does not find: %v", path, missing)
	}
	if _, err := path.Set(doc, "value"); (err == nil) && path.CheckResultPath() != nil {
		t.Fatalf("%q: Set although it is no path for results", path)
	}
	if after, _ := json.Marshal(doc); string(after) != string(before) {
		t.Fatalf("%q changed %s to %s", path, before, after)
	}
}
