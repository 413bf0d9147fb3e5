package jsonpath

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// For any text, Parse returns an error with a position inside the text, or a path. Its evaluation ends within the budget, with one of the documented results.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"$", "$$.a", "$v[0]", "$.a.b[0].c", "$.a..b", "$..*", "$['a','b']", "$['a','b'].c", "$[-1:0:-2]", "$[0,1]",
		"$.n[(@.length-1)]", "$[?(@.a == 'x' && !@.b || $.d[0] < 1e3)]", "$[?(@.a =~ /x.*/i)].b", "$..n.sum()",
		"$.a.", "$[", "$[?(", "$.a\xff",
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
			t.Fatalf("%q is not definite and gave %T", path.text, value)
		}
		if path.CheckReference() == nil && !path.Definite() {
			t.Fatalf("%q is a reference path and not definite", path.text)
		}
	case errors.Is(err, ErrBudget):
	case !errors.As(err, &missing) || !path.Definite():
		t.Fatalf("%q: Get failed with %#v", path.text, err)
	}
	has, hasErr := path.Has(doc)
	if hasErr == nil && has && missing.Reason != "" {
		t.Fatalf("%q: Has what Get does not find: %v", path.text, missing)
	}
	if _, err := path.Set(doc, "value"); (err == nil) && path.CheckResultPath() != nil {
		t.Fatalf("%q: Set although it is no path for results", path.text)
	}
	if after, _ := json.Marshal(doc); string(after) != string(before) {
		t.Fatalf("%q changed %s to %s", path.text, before, after)
	}
}
