package jsonpath_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// Guarantee (G9): length, nesting and steps of JSONPath.
// Also: `TestEvaluationIsBounded`.
func TestParseIsBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"length":      "$." + strings.Repeat("a", jsonpath.MaxLength),
		"regexp":      "$[?(@ =~ /((a{100}){100}){100}/)]",
		"alternation": "$[?(@ =~ /" + strings.Repeat(`(\pL|`, 40) + strings.Repeat(")", 40) + "/)]",
	} {
		path, err := jsonpath.Parse(text)
		problem := new(jsonpath.ParseError)
		if !errors.As(err, &problem) {
			t.Errorf("%s: Parse = %v, %v; want a *ParseError", name, path, err)
		}
		if got := len(err.Error()); got > 500 {
			t.Errorf("%s: the error is %d bytes long", name, got)
		}
	}
	for name, text := range map[string]string{
		"length": "$." + strings.Repeat("a", jsonpath.MaxLength-2),
		"regexp": "$[?(@ =~ /([a-z]{1,9}-){10,20}/)]",
	} {
		if _, err := jsonpath.Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEvaluationIsBounded(t *testing.T) {
	t.Parallel()
	chain := decode(t, strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000))
	lists := decode(t, strings.Repeat("[", 2000)+`"`+strings.Repeat("x", 1000)+`"`+strings.Repeat("]", 2000))
	wide := make([]any, 100_000)
	for i := range wide {
		wide[i] = jsontext.OrderedMapOf("a", "text", "n", 1.5)
	}
	broad := jsontext.OrderedMapOf("list", wide, "text", strings.Repeat("x", 1<<20), "digits",
		decode(t, strings.Repeat("1", 1<<20)))
	for text, doc := range map[string]any{
		"$..a..a..a":                      chain,
		"$..*":                            lists,
		"$..*..*":                         lists,
		"$" + strings.Repeat("[0,0]", 40): lists,
		"$.list[?($.text =~ /(x|y)*z/)]":  broad,
		"$.list[?(@.a != " + strings.Repeat("'a' && @.a != ", 500) + "'x')]": broad,
		"$.list[?($.text == $.text)]":                                        broad,
		"$.list[?(@.n == $.digits)]":                                         broad,
		"$.list[*][" + strings.Repeat("9,", 2000) + "9]":                     broad,
		"$.list[*]['" + strings.Repeat("q','", 1500) + "q']":                 broad,
		"$.list[?(@['" + strings.Repeat("q','", 1500) + "q'] == 1)]":         broad,
		"$.list[?(" + strings.Repeat("1==2||", 1000) + "1==2)]":              broad,
	} {
		t.Run(text[:min(len(text), 40)], func(t *testing.T) {
			t.Parallel()
			value, err := mustParse(t, text).Get(doc)
			if !errors.Is(err, jsonpath.ErrBudget) {
				t.Fatalf("Get = %T, %v; want ErrBudget", value, err)
			}
			if !strings.Contains(err.Error(), "jsonpath: $") {
				t.Errorf("%q does not name the path", err)
			}
		})
	}
	if _, err := mustParse(t, "$..x..x").Has(repeated(1_000_000)); !errors.Is(err, jsonpath.ErrBudget) {
		t.Errorf("Has = %v, want ErrBudget", err)
	}
}

// Ordinary searches of the largest payloads stay far within the budget.
func TestBudgetIsWideEnough(t *testing.T) {
	t.Parallel()
	list := make([]any, 10_000)
	for i := range list {
		list[i] = jsontext.OrderedMapOf("id", i, "name", "some name", "tags", []any{"a", "b"})
	}
	for _, text := range []string{
		"$[*].id", "$..id", "$[?(@.name =~ /some.*/ && @.tags[0] == a && @.id < 5000)].id",
		"$..*", "$[*]['id','name']",
	} {
		if _, err := mustParse(t, text).Get(list); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func repeated(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = []any{}
	}
	return list
}
