package jsonpath_test

import (
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// harbor is the document of most tests.
const harbor = `{
	"name": "Port Ebb",
	"nul": null,
	"open": true,
	"limits": {"draught": 9.5, "length": 120, "nested": {"length": 7}},
	"berths": [
		{"id": 1, "ship": "Ida", "crew": ["Ann", "Bo"], "tons": 800},
		{"id": 2, "ship": "Otto", "crew": [], "tons": 1200, "flag": null},
		{"id": 3, "crew": ["Cy"], "tons": 400, "flag": "NO"}
	],
	"depths": [3, 1, 4, 1, 5],
	"mixed": [1, "2", null, 2.5, true],
	"big": 9007199254740993,
	"": "empty", "x:y": 1, "x@y": 2, "x,y": 3, "x=y": 4, "x(y)": 5, "x\\y": 6,
	"a b": {"c.d": 1}
}`

func decode(tb testing.TB, text string) any {
	tb.Helper()
	value, err := jsontext.DecodeOrdered([]byte(text), 10_000, func(literal string) any { return json.Number(literal) })
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return value
}

func encode(tb testing.TB, value any) string {
	tb.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// unordered compares trees and ignores the order of members.
var unordered = cmp.Transformer("members", func(o *jsontext.OrderedMap) map[string]any { return maps.Collect(o.All()) })

// A query is a path with its result in a document, as JSON.
type query struct{ path, want string }

func testQueries(t *testing.T, document string, queries []query) {
	t.Helper()
	for _, q := range queries {
		t.Run(q.path, func(t *testing.T) {
			t.Parallel()
			path, doc := mustParse(t, q.path), decode(t, document)
			got, err := path.Get(doc)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, q.want), got, unordered); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, document), doc, unordered); diff != "" {
				t.Errorf("the document changed:\n%s", diff)
			}
			if _, list := got.([]any); !path.Definite() && !list {
				t.Errorf("a path that is not definite gave %T", got)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	testQueries(t, harbor, []query{
		{"$.name", `"Port Ebb"`},
		{"$.nul", `null`},
		{"$.open", `true`},
		{"$.big", `9007199254740993`},
		{"$.limits.draught", `9.5`},
		{"$['']", `"empty"`},
		{"$['a b']['c.d']", `1`},
		{" $.name\n", `"Port Ebb"`},
		{"$.x:y", `1`},
		{"$.x@y", `2`},
		{"$.x,y", `3`},
		{"$.x=y", `4`},
		{"$.x(y)", `5`},
		{`$.x\y`, `6`},
		{"$.berths.[0].['id']", `1`},
		{"$.berths[(@.length-1)].id", `3`},
		{"$.berths[ ( @.size() - 2 ) ].id", `2`},
		{"$.berths[0].ship", `"Ida"`},
		{"$.berths[1].flag", `null`},
		{"$.limits", `{"draught": 9.5, "length": 120, "nested": {"length": 7}}`},
	})
}

func TestGetSeveral(t *testing.T) {
	t.Parallel()
	testQueries(t, harbor, []query{
		{"$.berths[*].id", `[1, 2, 3]`},
		{"$.berths.*.id", `[1, 2, 3]`},
		{"$.berths[*].ship", `["Ida", "Otto"]`},
		{"$.berths[*].flag", `[null, "NO"]`},
		{"$.berths[*].crew[*]", `["Ann", "Bo", "Cy"]`},
		{"$.berths[*].crew[0]", `["Ann", "Cy"]`},
		{"$.limits.*", `[9.5, 120, {"length": 7}]`},
		{"$.limits[*]", `[9.5, 120, {"length": 7}]`},
		{"$.depths[0,2]", `[3, 4]`},
		{"$.depths[-1,0,9]", `[3]`},
		{"$.depths[0,0]", `[3, 3]`},
		{"$.depths[1:3]", `[1, 4]`},
		{"$.depths[3:]", `[1, 5]`},
		{"$.depths[:2]", `[3, 1]`},
		{"$.depths[-2:]", `[1, 5]`},
		{"$.depths[:-3]", `[3, 1]`},
		{"$.depths[1:-1]", `[]`},
		{"$.depths[-2:9]", `[]`},
		{"$.depths[1:4:2]", `[1, 4, 1]`},
		{"$.depths[:2:-1]", `[3, 1]`},
		{"$.depths[-9:]", `[3, 1, 4, 1, 5]`},
		{"$.depths[:-9]", `[]`},
		{"$.depths[4:2]", `[]`},
		{"$.depths[9:]", `[]`},
		{"$['name','open']", `{"name": "Port Ebb", "open": true}`},
		{"$['name','absent']", `{"name": "Port Ebb"}`},
		{"$['absent','gone']", `{}`},
		{"$.berths[1:]['id','flag']", `[{"id": 2, "flag": null}, {"id": 3, "flag": "NO"}]`},
		{"$.berths[0,1]['flag','none']", `[{}, {"flag": null}]`},
		{"$.berths[*]['id','tons'].x", `[]`},
		{"$..length", `[120, 7]`},
		{"$..id", `[1, 2, 3]`},
		{"$.berths..crew[0]", `["Ann", "Cy"]`},
		{"$.depths..[0]", `[3]`},
		{"$.berths..[0].id", `[1, 2, 3]`},
		{"$.berths[0]..[0]", `["Ann"]`},
		{"$.limits..*", `[9.5, 120, {"length": 7}, 7]`},
		{"$..['id','flag']", `[{"id": 2, "flag": null}, {"id": 3, "flag": "NO"}]`},
		{"$.berths[0]..*", `[1, "Ida", ["Ann", "Bo"], 800, "Ann", "Bo"]`},
	})
}

// A path without a single answer has an empty one if nothing matches. AWS was seen to do this for missing parents,
// short arrays and wrong types.
func TestGetSeveralWhereNothingIs(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		`{}`, `{"list": null}`, `{"list": 7}`, `{"list": "text"}`, `{"list": {}}`,
		`{"list": []}`, `[]`, `null`, `3`,
	} {
		for _, text := range []string{
			"$.list[*]", "$.list[*].x", "$.list[2:]", "$.list[:1].x", "$.list[0,1]", "$.in.list[1:5].x",
			"$.list[?(@.x)].y", "$..x", "$.list..[0]", "$.list.x[*]", "$.list[3].x[*]", "$.list[*]['a','b'].c",
		} {
			got, err := mustParse(t, text).Get(decode(t, document))
			if err != nil || encode(t, got) != "[]" {
				t.Errorf("%s in %s = %v, %v; want []", text, document, got, err)
			}
		}
	}
	got, err := mustParse(t, "$[*]").Get(decode(t, `{}`))
	if err != nil || encode(t, got) != "[]" {
		t.Errorf("$[*] in {} = %v, %v; want []", got, err)
	}
}

func TestGetNotFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$.absent":               "No results for path: $['absent']",
		"$.limits.beam":          "No results for path: $['limits']['beam']",
		"$.berths[9]":            "No results for path: $['berths'][9]",
		"$.berths[-9]":           "No results for path: $['berths'][-9]",
		"$.berths[9].id":         "No results for path: $['berths'][9]['id']",
		"$.absent.a.b":           "Missing property in path $['absent']",
		"$.limits.beam.max":      "Missing property in path $['limits']['beam']",
		"$.absent[0]":            "Missing property in path $['absent']",
		"$.name.first":           "Property ['first'] not found in path $['name']",
		"$.nul.a":                "Property ['a'] not found in path $['nul']",
		"$.depths.first.b":       "Property ['first'] not found in path $['depths']",
		"$.nul[0]":               "The path $['nul'] is null",
		"$.limits.nested[0]":     `Filter: [0] can only be applied to arrays. Current context is: {"length":7}`,
		"$.name['a','b']":        "Property ['a', 'b'] not found in path $['name']",
		"$['nul','name'].x":      "Multi properties can only be used as path leafs: $['nul', 'name']",
		"$.berths.length()":      "Property ['length()'] not found in path $['berths']",
		"$.limits.keys()":        "No results for path: $['limits']['keys()']",
		"$.depths[-1]":           "No results for path: $['depths'][-1]",
		"$.depths[-1].x":         "No results for path: $['depths'][-1]['x']",
		"$.nul[(@.length-1)]":    "The path $['nul'] is null",
		"$.depths[(@.length-9)]": "No results for path: $['depths'][@.size()-9]",
		"$$.absent":              "No results for path: $['absent']",
		"$v.absent.a":            "Missing property in path $v['absent']",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			path, doc := mustParse(t, text), decode(t, harbor)
			value, err := path.Get(doc)
			var missing *jsonpath.NotFoundError
			if !errors.As(err, &missing) {
				t.Fatalf("Get = %v, %v; want a *NotFoundError", value, err)
			}
			if missing.Path != text || missing.Reason != want {
				t.Errorf("got %q for %s, want %q", missing.Reason, missing.Path, want)
			}
			if want := "jsonpath: " + text + ": " + want; err.Error() != want {
				t.Errorf("Error() = %q, want %q", err, want)
			}
			if has, err := path.Has(doc); has || err != nil {
				t.Errorf("Has = %v, %v; want false", has, err)
			}
		})
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	doc := decode(t, harbor)
	for text, want := range map[string]bool{
		"$": true, "$.name": true, "$.nul": true, "$.berths[2].flag": true, "$.berths[3]": false, "$.absent": false,
		"$.berths[*].ship": true, "$.berths[*].mast": false, "$..flag": true, "$..mast": false, "$.absent[*]": false,
		"$.berths[?(@.tons > 1000)]": true, "$.berths[?(@.tons > 9000)]": false, "$.depths.sum()": false,
		"$['absent','gone']": true, "$.name['a','b']": false,
	} {
		if got, err := mustParse(t, text).Has(doc); got != want || err != nil {
			t.Errorf("%s: Has = %v, %v; want %v", text, got, err, want)
		}
	}
}

// Paths also read values that Go code made and that were not decoded.
func TestGetOfGoNumbers(t *testing.T) {
	t.Parallel()
	doc := jsontext.OrderedMapOf("list", []any{
		1, int32(2), int64(3), uint32(4), uint64(5), float32(6.5), 7.5,
		json.Number("8"),
	})
	for text, want := range map[string]string{
		"$.list[?(@ > 3)]":    `[4,5,6.5,7.5,8]`,
		"$.list[?(@ == 2)]":   `[2]`,
		"$.list[?(@ >= 7.5)]": `[7.5,8]`,
	} {
		got, err := mustParse(t, text).Get(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := encode(t, got); got != want {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
}

func TestPathsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	path, doc := mustParse(t, "$..berths[?(@.ship =~ /o.*/i && @.tons > 1000)].id"), decode(t, harbor)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got, err := path.Get(doc); err != nil || encode(t, got) != "[2]" {
					t.Errorf("Get = %v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}
