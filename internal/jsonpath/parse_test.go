package jsonpath_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

func TestParsePrintsTheShortestSpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$":                       "$",
		"$$":                      "$$",
		"$total":                  "$total",
		"$größe_2.a":              "$größe_2.a",
		"$$.Execution.Input":      "$$.Execution.Input",
		"$.order.lines[0].sku":    "$.order.lines[0].sku",
		"$.delivery-partner":      "$.delivery-partner",
		"$.0":                     "$.0",
		"$['a']":                  "$.a",
		`$["a"]["b c"]`:           "$.a['b c']",
		"$[ 'a' ][ 0 ]":           "$.a[0]",
		"$.a.['b c']":             "$.a['b c']",
		"$.['a']":                 "$.a",
		"$['']":                   "$['']",
		`$['it\'s']`:              `$['it\'s']`,
		`$["say \"hi\""]`:         `$['say "hi"']`,
		`$['back\\slash']`:        `$['back\\slash']`,
		`$['tab\tA']`:             `$['tab\u0009A']`,
		`$['\uD83D\uDE00']`:       "$.😀",
		"$[-1]":                   "$[-1]",
		"$[007]":                  "$[7]",
		"$[0, 2]":                 "$[0,2]",
		"$['a', 'b']":             "$['a','b']",
		"$['a',0,*]":              "$['a',0,*]",
		"$[1:]":                   "$[1:]",
		"$[:-2]":                  "$[:-2]",
		"$[ 1 : 5 : 2 ]":          "$[1:5:2]",
		"$[1:5:1]":                "$[1:5]",
		"$[::-1]":                 "$[::-1]",
		"$[:]":                    "$[:]",
		"$.*":                     "$.*",
		"$[*]":                    "$.*",
		"$.[*].a":                 "$.*.a",
		"$..a":                    "$..a",
		"$..['a']":                "$..a",
		"$..*":                    "$..*",
		"$..[0]":                  "$..[0]",
		"$.a.length()":            "$.a.length()",
		"$..price.sum()":          "$..price.sum()",
		"$.min":                   "$.min",
		"$['length()']":           "$['length()']",
		"$[?(@.a)]":               "$[?(@.a)]",
		"$[?@.a]":                 "$[?(@.a)]",
		"$[?((@.a))]":             "$[?(@.a)]",
		"$[?(@['a b'] )]":         "$[?(@['a b'])]",
		"$[?(!@.a)]":              "$[?(!@.a)]",
		"$[?(!(@.a==1))]":         "$[?(!(@.a == 1))]",
		"$[?(!!@.a)]":             "$[?(!!@.a)]",
		"$[?(@.a&&@.b||@.c)]":     "$[?((@.a && @.b) || @.c)]",
		"$[?(@.a&&(@.b||@.c))]":   "$[?(@.a && (@.b || @.c))]",
		"$[?(@==$.x.y)]":          "$[?(@ == $.x.y)]",
		"$[?(1<@.a)]":             "$[?(1 < @.a)]",
		"$[?(@.a===\"x\")]":       "$[?(@.a === 'x')]",
		"$[?(@.a==RED_ONE)]":      "$[?(@.a == 'RED_ONE')]",
		"$[?(@.a==null)]":         "$[?(@.a == null)]",
		"$[?(@.a!=-1.5e3)]":       "$[?(@.a != -1.5e3)]",
		"$[?(@.a =~ /x\\/y/smi)]": "$[?(@.a =~ /x\\/y/ims)]",
		"$[?(@.a in[1,'b',[x]])]": "$[?(@.a in [1,'b',['x']])]",
		"$[?(@.a nin [])]":        "$[?(@.a nin [])]",
		"$[?(@.a subsetof $.b)]":  "$[?(@.a subsetof $.b)]",
		"$[?(@.a size 2)]":        "$[?(@.a size 2)]",
		"$[?(@.a empty false)]":   "$[?(@.a empty false)]",
		"$[?(@.a.length() >= 2)]": "$[?(@.a.length() >= 2)]",
		"$[?(@[?(@.b)])]":         "$[?(@[?(@.b)])]",
		"$.a[?(@.b)].c[0]":        "$.a[?(@.b)].c[0]",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			path, err := jsonpath.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := path.String(); got != want {
				t.Errorf("String() = %s, want %s", got, want)
			}
			if got := path.Text(); got != text {
				t.Errorf("Text() = %s, want it as given, %s", got, text)
			}
		})
	}
}

// The first version of the language, of 2016, escapes characters with a backslash.
func TestParseEscapedNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$.shop\.name`:             `$['shop.name']`,
		`$.\sho\p`:                 `$['shop']`,
		`$.a\@b.c\[\[.\?d`:         `$['a@b']['c[[']['?d']`,
		`$.&Жß.\uD800\uDF46`:       `$['&Жß']['𐍆']`,
		`$.\u0041b`:                `$['Ab']`,
		`$.\under`:                 `$['under']`,
		`$.a\ b`:                   `$['a b']`,
		`$.a\'b`:                   `$['a\'b']`,
		`$.a\\b`:                   `$['a\\b']`,
		`$.call\(\)`:               `$['call()']`,
		"$.a+b/c":                  `$['a+b/c']`,
		`$$.a\.b`:                  `$$['a.b']`,
		`$v.a[0]`:                  `$v['a'][0]`,
		`$.a[0]['b',"c"][1:]..*.d`: `$['a'][0]['b','c'][1:]..[*]['d']`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			path, err := jsonpath.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := path.Normalized(); got != want {
				t.Errorf("Normalized() = %s, want %s", got, want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		offset  int
		problem string // a part of it
	}{
		"":                     {0, "begins with $"},
		"a.b":                  {0, "begins with $"},
		".a":                   {0, "begins with $"},
		"()":                   {0, "begins with $"},
		" $.a":                 {0, "begins with $"},
		"$.":                   {2, "expected a name"},
		"$..":                  {3, "expected a name"},
		"$...":                 {3, "expected a name"},
		"$...a":                {3, "expected a name"},
		"$.a.":                 {4, "expected a name"},
		"$.a..":                {5, "expected a name"},
		"$.a b":                {3, "['a name']"},
		"$.a ":                 {3, "['a name']"},
		"$.a:b":                {3, "['a name']"},
		"$.a@b":                {3, "['a name']"},
		"$.a(1)":               {3, "['a name']"},
		"$ .a":                 {1, "expected . or ["},
		"$-a":                  {1, "expected . or ["},
		"$1":                   {1, "expected . or ["},
		"$$$":                  {2, "expected . or ["},
		"$$a":                  {2, "expected . or ["},
		"$['a":                 {2, "never closed"},
		`$["a']`:               {2, "never closed"},
		"$[0":                  {1, "never closed"},
		"$[":                   {2, "expected a quoted name"},
		"$[]":                  {2, "expected a quoted name"},
		"$[a]":                 {2, "expected a quoted name"},
		"$[0,]":                {4, "expected a quoted name"},
		"$[0;1]":               {3, "expected , or ]"},
		"$[1.5]":               {3, "expected , or ]"},
		"$[-]":                 {2, "expected an integer"},
		"$[99999999999]":       {2, "is no index"},
		"$[0:99999999999]":     {4, "is no index"},
		"$[::99999999999]":     {4, "is no index"},
		"$[99999999999:]":      {2, "is no index"},
		`$['\`:                 {3, "backslash"},
		"$.\ufffd\xff":         {5, "UTF-8"},
		"$[0:1:0]":             {6, "step"},
		"$[(@.length-1)]":      {2, "[-1]"},
		"$.a.length().b":       {12, "nothing may follow length()"},
		"$.a.size()":           {4, "no function size()"},
		"$..length()":          {3, "single dot"},
		`$.a\`:                 {3, "backslash"},
		`$.\uD800`:             {2, "surrogate"},
		`$.\uDF46\uD800`:       {2, "surrogate"},
		`$.\uD800x`:            {2, "surrogate"},
		"$.a\xff":              {3, "UTF-8"},
		"$[?]":                 {3, "expected a value"},
		"$[?()]":               {4, "expected a value"},
		"$[?(@.a]":             {7, "expected &&, || or )"},
		"$[?(@.a":              {3, "never closed"},
		"$[?(@.a &&)]":         {10, "expected a value"},
		"$[?(@.a & @.b)]":      {8, "expected &&, || or )"},
		"$[?(1)]":              {4, "a value alone"},
		"$[?(@.a = 1)]":        {8, "write =="},
		"$[?(@.a == )]":        {11, "expected a value"},
		"$[?(@.a == 01)]":      {11, "no JSON number"},
		"$[?(@.a == 1.2.3)]":   {11, "no JSON number"},
		"$[?(@.a == $$.b)]":    {11, "$ is the document"},
		"$[?(@.a == $b)]":      {11, "$ is the document"},
		"$[?(@.a like 'b')]":   {8, "no operator like"},
		"$[?(@.a =~ 'b')]":     {11, "takes a regexp"},
		"$[?(@.a == /b/)]":     {11, "right of =~"},
		"$[?(@.a =~ /b)]":      {11, "never closed"},
		`$[?(@.a =~ /b\`:       {11, "never closed"},
		"$[?(@.a =~ /b/x)]":    {14, "no regexp flag 'x'"},
		"$[?(@.a =~ /(b/)]":    {11, "missing closing )"},
		"$[?(@.a =~ /b)|(c/)]": {11, "unexpected )"},
		"$[?(@.a =~ /(?=b)/)]": {11, "RE2"},
		"$[?(@.a in 'b')]":     {8, "in takes a list"},
		"$[?(@.a size 'b')]":   {8, "size takes a number"},
		"$[?(@.a empty 1)]":    {8, "empty takes true, false"},
		"$[?(@.a in [1)]":      {11, "list is never closed"},
		"$[?(@.a in [1,])]":    {14, "expected a value"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			path, err := jsonpath.Parse(text)
			var problem *jsonpath.ParseError
			if !errors.As(err, &problem) {
				t.Fatalf("Parse = %v, %v; want a *ParseError", path, err)
			}
			if problem.Text != text || problem.Offset != want.offset || !strings.Contains(problem.Problem, want.problem) {
				t.Errorf("got offset %d, %q; want offset %d and %q", problem.Offset, problem.Problem, want.offset, want.problem)
			}
		})
	}
}

// Guarantee (G8): JSONPath errors name offset and problem; a fix is shown for one.
// Also: `FuzzParse`.
func TestParseErrorNamesPlaceAndFix(t *testing.T) {
	t.Parallel()
	_, err := jsonpath.Parse("$.order lines")
	want := "jsonpath: $.order lines at offset 7: ' ' cannot stand in a name without quotes; write ['a name'] or a backslash before it"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		root     jsonpath.Root
		variable string
	}{
		"$":         {jsonpath.RootInput, ""},
		"$.a":       {jsonpath.RootInput, ""},
		"$['a']":    {jsonpath.RootInput, ""},
		"$$":        {jsonpath.RootContext, ""},
		"$$.State":  {jsonpath.RootContext, ""},
		"$a":        {jsonpath.RootVariable, "a"},
		"$a_1.b":    {jsonpath.RootVariable, "a_1"},
		"$naïve[0]": {jsonpath.RootVariable, "naïve"},
	} {
		path := mustParse(t, text)
		if path.Root() != want.root || path.Variable() != want.variable {
			t.Errorf("%s: root %v, variable %q; want %v, %q", text, path.Root(), path.Variable(), want.root, want.variable)
		}
	}
}

func TestRootString(t *testing.T) {
	t.Parallel()
	for root, want := range map[jsonpath.Root]string{
		jsonpath.RootInput: "$", jsonpath.RootContext: "$$", jsonpath.RootVariable: "$name", 99: "unknown root",
	} {
		if got := root.String(); got != want {
			t.Errorf("Root(%d).String() = %q, want %q", root, got, want)
		}
	}
}

func TestDefinite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"$": true, "$.a": true, "$.a[0]": true, "$[-1].b": true, "$['a','b']": true, "$..a.length()": true,
		"$.*": false, "$[*]": false, "$[0:1]": false, "$[0,1]": false, "$..a": false, "$[?(@.a)]": false,
		"$['a','b'].c": false, "$[?(@.a)].b": false,
	} {
		if got := mustParse(t, text).Definite(); got != want {
			t.Errorf("%s: Definite() = %v, want %v", text, got, want)
		}
	}
}

func TestReferencePaths(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		reference, result int // offset of the problem, or -1
	}{
		"$":            {-1, -1},
		"$.a.b[0].c":   {-1, -1},
		"$['a:b']":     {-1, -1},
		`$.a\:b`:       {-1, -1},
		"$.a[-1]":      {-1, 3},
		"$$.a":         {-1, 0},
		"$v.a":         {-1, 0},
		"$.a[*].b":     {3, 3},
		"$.a.*":        {3, 3},
		"$..a":         {1, 1},
		"$.a[0,1]":     {3, 3},
		"$['a','b']":   {1, 1},
		"$.a[1:]":      {3, 3},
		"$.a[?(@.b)]":  {3, 3},
		"$.a.length()": {3, 3},
		"$$.a[?(@.b)]": {4, 0},
	} {
		path := mustParse(t, text)
		for name, check := range map[string]struct {
			err  error
			want int
		}{
			"CheckReference":  {path.CheckReference(), want.reference},
			"CheckResultPath": {path.CheckResultPath(), want.result},
		} {
			offset := -1
			if problem := new(jsonpath.ParseError); errors.As(check.err, &problem) {
				offset = problem.Offset
			}
			if offset != check.want || (check.err == nil) != (check.want < 0) {
				t.Errorf("%s of %s = %v, want a problem at offset %d", name, text, check.err, check.want)
			}
		}
	}
}

func mustParse(tb testing.TB, text string) *jsonpath.Path {
	tb.Helper()
	path, err := jsonpath.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
