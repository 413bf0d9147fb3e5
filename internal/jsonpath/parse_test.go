package jsonpath_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/internal/jsonpath"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		offset  int
		problem string // a part of it
	}{
		"":                       {0, "begins with $"},
		"a.b":                    {0, "begins with $"},
		"()":                     {0, "begins with $"},
		"$.":                     {2, "expected a name"},
		"$..":                    {3, "expected a name"},
		"$...a":                  {3, "expected a name"},
		"$.a.":                   {4, "expected a name"},
		"$.a b":                  {3, "['a name']"},
		"$.a .b":                 {3, "['a name']"},
		"$ .a":                   {1, "expected . or ["},
		"$-a":                    {1, "expected . or ["},
		"$1":                     {1, "expected . or ["},
		"$$$":                    {2, "expected . or ["},
		"$$a":                    {2, "expected . or ["},
		"$['a":                   {1, "never closed"},
		`$['it\'s']`:             {2, "no escapes"},
		"$['a' 'b']":             {2, "with a comma"},
		"$['a',0]":               {2, "with a comma"},
		`$["a"]`:                 {2, "single quotes"},
		"$[0":                    {1, "never closed"},
		"$[]":                    {2, "expected a name"},
		"$[a]":                   {2, "expected a name"},
		"$[ * ]":                 {2, "expected a name"},
		"$[0,]":                  {2, "expected a name"},
		"$[0,*]":                 {2, "expected a name"},
		"$[1.5]":                 {2, "expected a name"},
		"$[99999999999]":         {2, "32 bits"},
		"$[:]":                   {2, "expected a name"},
		"$[::2]":                 {2, "expected a name"},
		"$[(@.length)]":          {2, "[(@.length-1)]"},
		"$[(@.count-1)]":         {2, "[(@.length-1)]"},
		"$.a\xff":                {0, "UTF-8"},
		"$[?]":                   {3, "[?(…)]"},
		"$[?@.a]":                {3, "[?(…)]"},
		"$[?()]":                 {4, "expected a condition"},
		"$[?(@.a)":               {1, "never closed"},
		"$[?(@.a))]":             {3, "do not match"},
		"$[?(@.a == it's)]":      {3, "never closed"},
		"$[?(@.a &&)]":           {10, "expected a condition"},
		"$[?(@.a == 'x && y')]":  {17, "a value alone"},
		"$[?(1)]":                {4, "a value alone"},
		"$[?(@a)]":               {4, "cannot be reached"},
		"$[?(@.a == $$.b)]":      {11, "cannot be reached"},
		"$[?(@.a == $b)]":        {11, "cannot be reached"},
		"$[?(@.a[*] == 1)]":      {4, "names one value"},
		"$[?(@..a)]":             {4, "names one value"},
		"$[?(@[?(@.a)])]":        {6, "cannot contain a filter"},
		"$[?(!$.a)]":             {4, "stands only before a path from @"},
		"$[?(!(@.a == 1))]":      {4, "stands only before a path from @"},
		"$[?(@.a == !@.b)]":      {11, "stands only before a path from @"},
		"$[?(@.a in ['b'])]":     {8, "no operator in; there are == >= <= != < > =~"},
		"$[?(@.a in['b'])]":      {8, "no operator in"},
		"$[?(@.a nin [1])]":      {8, "no operator nin"},
		"$[?(@.a size 2)]":       {8, "no operator size"},
		"$[?(@.a empty true)]":   {8, "no operator empty"},
		"$[?(@.a contains 'b')]": {8, "no operator contains"},
		"$[?(@.a subsetof $.b)]": {8, "no operator subsetof"},
		"$[?(@.a like 'b')]":     {7, "['a name']"},
		"$[?(@.a =~ 'b')]":       {11, "takes a regexp"},
		"$[?(@.a =~ /(b/)]":      {3, "do not match"},
		"$[?(@.a =~ /[b/)]":      {1, "never closed"},
		"$[?(@.a =~ /b{2,1}/)]":  {11, "RE2"},
		"$[?(@.a =~ /b(?=c)/)]":  {11, "RE2"},
		"$[?(@.a =~ /b)|(c/)]":   {11, "unexpected )"},
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

// What newer versions of JSONPath find in a path, and AWS does not, is said.
func TestCaution(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$.a.length()":                       "AWS's JSONPath has no functions, and takes length() for a name",
		"$..price.sum()":                     "AWS's JSONPath has no functions, and takes sum() for a name",
		"$.a[-1]":                            "AWS's JSONPath has no element [-1]; write [(@.length-1)]",
		"$.a[0:4:2]":                         "AWS's JSONPath has no slices by steps, and ignores the step",
		"$.a[1:-1]":                          "AWS's JSONPath counts from the end in [-n:] and [:-n] only; this slice is empty",
		"$['a','b'].c":                       "AWS's JSONPath finds nothing after several names in brackets",
		`$[?(@.a == "b")]`:                   `AWS's JSONPath takes "b" for a text as it stands; write 'text' and ==`,
		"$[?(@.a === 7)]":                    "AWS's JSONPath takes = 7 for a text as it stands; write 'text' and ==",
		"$[?(!@.a == 1)]":                    "AWS's JSONPath ignores ! before a comparison; turn its operator round",
		"$[?((@.a || @.b) && @.c)]":          "AWS's JSONPath ignores parentheses in a filter: && binds stronger than ||",
		"$.a[(@.length-1)].b[-2:]['c','d']":  "",
		"$.a[?((@.a == 1) && (@.b == 'c'))]": "",
		"$.a.run()":                          "",
	} {
		if got := mustParse(t, text).Caution(); got != want {
			t.Errorf("%s: Caution() = %q, want %q", text, got, want)
		}
	}
}

// Guarantee (G8): JSONPath errors name offset and problem; a fix is shown for one.
// Also: `FuzzParse`.
func TestParseErrorNamesPlaceAndFix(t *testing.T) {
	t.Parallel()
	_, err := jsonpath.Parse("$.order lines")
	want := "jsonpath: $.order lines at offset 7: a blank cannot stand in a name without quotes; write ['a name']"
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

func TestDefinite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"$": true, "$.a": true, "$.a[0]": true, "$[-1].b": true, "$['a','b']": true, "$[(@.length-1)]": true,
		"$.*": false, "$[*]": false, "$[0:1]": false, "$[0,1]": false, "$..a": false, "$[?(@.a)]": false,
		"$['a','b'].c": true, "$..a.length()": false, "$[?(@.a)].b": false,
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
		"$":                 {-1, -1},
		"$.a.b[0].c":        {-1, -1},
		"$['a:b']":          {-1, -1},
		"$.a:b":             {-1, -1},
		"$.a[-1]":           {-1, 3},
		"$$.a":              {-1, 0},
		"$v.a":              {-1, 0},
		"$.a[*].b":          {3, 3},
		"$.a.*":             {3, 3},
		"$..a":              {1, 1},
		"$.a[0,1]":          {3, 3},
		"$['a','b']":        {1, 1},
		"$.a[1:]":           {3, 3},
		"$.a[?(@.b)]":       {3, 3},
		"$.a.length()":      {-1, -1},
		"$.a[(@.length-1)]": {3, 3},
		"$$.a[?(@.b)]":      {4, 0},
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
