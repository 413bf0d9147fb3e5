package console

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/ebbflow/ebb/server/api"
)

var update = flag.Bool("update", false, "list the texts of the pages in texts/en.json")

// A source is the checked source of the package.
type source struct {
	*testing.T

	places *token.FileSet
	files  []*ast.File
	info   *types.Info
}

// readSource reads the files of the package that are no tests.
func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{T: t, places: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.places, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	config := types.Config{Importer: importer.ForCompiler(s.places, "gc", s.exports())}
	if _, err := config.Check("console", s.places, s.files, s.info); err != nil {
		t.Fatal(err)
	}
	return s
}

// exports returns what opens the compiled form of each package that this one imports.
func (s *source) exports() importer.Lookup {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Export", ".").Output()
	if err != nil {
		s.Fatal(err)
	}
	files := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err != nil {
			s.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// constantOf returns the text of an expression that is constant.
func (s *source) constantOf(e ast.Expr) (string, bool) {
	v := s.info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// isType reports whether an expression has, or is, the type of this package with a name.
func (s *source) isType(e ast.Expr, name string) bool {
	named, is := s.info.Types[e].Type.(*types.Named)
	return is && named.Obj().Name() == name && named.Obj().Pkg().Path() == "console"
}

// written returns the constant texts with words in an expression, but those that a function takes which is not of
// package fmt.
func (s *source) written(e ast.Expr) (found []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			f, is := call.Fun.(*ast.SelectorExpr)
			return is && types.ExprString(f.X) == "fmt"
		}
		if e, is := n.(ast.Expr); is {
			if text, is := s.constantOf(e); is && strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.L) }) {
				found = append(found, text)
				return false
			}
		}
		return true
	})
	return found
}

// sentence finds words that are no name.
var sentence = regexp.MustCompile(`\p{L}{2,},? \p{L}+,? \p{Ll}+`)

// place finds where a value stands.
var place = regexp.MustCompile(`\{(\d+)\}`)

// look checks a call, and returns whether what is in it needs no further look.
func (s *source) look(call *ast.CallExpr) (done bool) {
	name := types.ExprString(call.Fun)
	switch {
	case name == "words" || name == "literal" || name == "inEnglish":
		for _, text := range s.written(call.Args[0]) {
			s.Errorf("%v: %q is written as data: want say(%[2]q)", s.places.Position(call.Pos()), text)
		}
	case name == "attr":
		of, _ := s.constantOf(call.Args[0])
		if texts := s.written(call.Args[1]); len(texts) > 0 && slices.Contains([]string{"aria-label", "title", "alt"}, of) {
			s.Errorf("%v: %q is written as data: want sayAttr(%q, %[2]q)", s.places.Position(call.Pos()), texts, of)
		}
	case name == "text" && s.info.Types[call].Value == nil:
		s.Errorf("%v: only a constant can be a fixed text", s.places.Position(call.Pos()))
	case name == "say" || name == "sayAttr":
		at := map[string]int{"say": 0, "sayAttr": 1}[name]
		if text, is := s.constantOf(call.Args[at]); is && !call.Ellipsis.IsValid() {
			for i := range len(call.Args) - at - 1 {
				if !strings.Contains(text, "{"+string(rune('0'+i))+"}") {
					s.Errorf("%v: the value %d has no place in %q", s.places.Position(call.Pos()), i, text)
				}
			}
			for _, m := range place.FindAllStringSubmatch(text, -1) {
				if int(m[1][0]-'0') >= len(call.Args)-at-1 {
					s.Errorf("%v: there is no value for %s", s.places.Position(call.Pos()), m[0])
				}
			}
		}
	case slices.Contains([]string{"class", "code", "http.Error", "errors.New", "fmt.Errorf"}, name):
		return true
	}
	return false
}

// TestCatalog: the catalog lists the fixed texts of the pages, and no others. No fixed text is written as data. The
// catalog of each other language has all texts.
func TestCatalog(t *testing.T) {
	t.Parallel()
	s := readSource(t)
	used, counts := map[string]bool{}, map[string]string{}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if types.ExprString(n.Fun) == "sayCount" {
					one, _ := s.constantOf(n.Args[1])
					many, _ := s.constantOf(n.Args[2])
					counts[many] = one
				}
				return !s.look(n)
			case *ast.ImportSpec:
				return false
			case ast.Expr:
				text, is := s.constantOf(n)
				if !is {
					return true
				}
				if s.isType(n, "text") {
					if text != "" {
						used[text] = true
					}
				} else if b, is := s.info.Types[n].Type.(*types.Basic); is && b.Kind() == types.String && sentence.MatchString(text) {
					t.Errorf("%v: is %q a text of a page? Then want the type text", s.places.Position(n.Pos()), text)
				}
				return false
			}
			return true
		})
	}
	texts := make([]string, 0, len(used))
	for text := range used {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	var list bytes.Buffer
	e := json.NewEncoder(&list)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(texts); err != nil {
		t.Fatal(err)
	}
	const file = "texts/en.json"
	if *update {
		if err := os.WriteFile(file, list.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if listed, err := os.ReadFile(file); err != nil || !bytes.Equal(listed, list.Bytes()) {
		t.Errorf("%s is not the list of all texts: go test ./server/console -run TestCatalog -update (%v)", file, err)
	}
	others, err := filepath.Glob("texts/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range others {
		if other == file {
			continue
		}
		data, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range wrongIn(data, strings.TrimSuffix(filepath.Base(other), ".json"), texts, counts) {
			t.Errorf("%s: %s", other, wrong)
		}
	}
}

// wrongIn says what is wrong in the catalog of a language. Counts has the texts with a number, and what English says of
// 1, which is in no catalog.
func wrongIn(data []byte, tag string, texts []string, counts map[string]string) (wrong []string) {
	said := map[string]saying{}
	if err := json.Unmarshal(data, &said); err != nil {
		return []string{err.Error()}
	}
	places := func(text string) []string { return slices.Sorted(slices.Values(place.FindAllString(text, -1))) }
	singular := slices.Collect(maps.Values(counts))
	for _, text := range texts {
		if slices.Contains(singular, text) {
			continue
		}
		forms := []form{formOther}
		if _, is := counts[text]; is {
			forms = pluralOf(tag).forms
		}
		for _, f := range forms {
			got := places(said[text][f])
			if f == formOne && !slices.Contains(got, "{0}") { // "one run" needs no number
				got = append([]string{"{0}"}, got...)
			}
			if said[text][f] == "" || !slices.Equal(got, places(text)) {
				wrong = append(wrong, fmt.Sprintf("it says %q of %q (%s): want a text with %q", said[text][f], text, f, places(text)))
			}
		}
		delete(said, text)
	}
	for text := range said {
		wrong = append(wrong, fmt.Sprintf("no page shows %q", text))
	}
	return wrong
}

// TestPlurals: a language says a text with a number in the form that the number has in it.
func TestPlurals(t *testing.T) {
	t.Parallel()
	catalog := []byte(`{"{0} runs": {"one": "{0} bieg", "few": "{0} biegi", "many": "{0} biegów"}, "run": "bieg"}`)
	all, err := readLanguages(fstest.MapFS{"texts/pl.json": {Data: catalog}})
	if err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"en 0 runs": 0, "en 1 run": 1, "en 2 runs": 2, "pl 0 biegów": 0, "pl 1 bieg": 1, "pl 3 biegi": 3, "pl 5 biegów": 5,
		"pl 12 biegów": 12, "pl 22 biegi": 22, "en-XA ⟦1 řůñ⟧": 1, "ar-XB ⟦7 řůñš⟧": 7,
	} {
		tag, want, _ := strings.Cut(want, " ")
		var page strings.Builder
		if sayCount(n, "{0} run", "{0} runs").write(&writer{to: &page, in: all[tag]}); page.String() != want {
			t.Errorf("%s: %q, want %q", tag, page.String(), want)
		}
	}
	texts, counts := []string{"run", "{0} run", "{0} runs"}, map[string]string{"{0} runs": "{0} run"}
	if wrong := wrongIn(catalog, "pl", texts, counts); len(wrong) > 0 {
		t.Errorf("a catalog with all forms is wrong: %q", wrong)
	}
	for _, bad := range []string{
		`{"{0} runs": {"one": "{0} bieg", "few": "{0} biegi"}, "run": "bieg"}`, `{"{0} runs": "{0} biegi", "run": "bieg"}`,
		`{"{0} runs": {"one": "bieg", "few": "{0} biegi", "many": "{1} biegów"}, "run": "bieg"}`, `[]`,
		`{"{0} runs": {"one": "bieg", "few": "{0} biegi", "many": "{0} biegów"}}`,
		`{"{0} runs": {"one": "bieg", "few": "{0} biegi", "many": "{0} biegów"}, "run": "bieg", "none": "nic"}`,
	} {
		if len(wrongIn([]byte(bad), "pl", texts, counts)) == 0 {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
	for tag, want := range map[string]string{"ar": "zero,one,two,few,many,many,other", "ja": "other,other,other,other,other,other,other"} {
		var got []string
		for _, n := range []int{0, 1, 2, 3, 11, 99, 100} {
			got = append(got, string(pluralOf(tag).of(n)))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %q, want %s", tag, got, want)
		}
	}
}

// TestVerbs: each command of the API has a label and an effect, and nothing else has.
func TestVerbs(t *testing.T) {
	t.Parallel()
	var names []string
	for _, o := range (*api.API)(nil).Operations() {
		name := o.Of + " " + o.Name
		names = append(names, name)
		if v := verbs[name]; v.label == "" || v.effect == "" {
			t.Errorf("verbs has no words for %q", name)
		}
	}
	for name := range verbs {
		if !slices.Contains(names, name) {
			t.Errorf("verbs has words for %q, which is no command", name)
		}
	}
}

// TestLanguages: a browser gets the language that it prefers, and values stand where the language wants them. A language
// that is written from right to left has this direction, and data stands apart in it.
func TestLanguages(t *testing.T) {
	t.Parallel()
	all, err := readLanguages(fstest.MapFS{
		"texts/en.json": {Data: []byte(`["{0} of {1}"]`)}, "texts/he.json": {Data: []byte(`{"{0} of {1}": "{1} <של> {0}"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{languages: all}
	for preferred, want := range map[string]string{
		"": "en", "*": "en", "fr": "en", "he": "he", "he-IL,he;q=0.9": "he", "fr,en;q=0.9,he;q=0.8": "en", "en-XA": "en-XA", ",;,": "en",
	} {
		if got := c.languageFor(preferred).tag; got != want {
			t.Errorf("%q prefers %q: want %q", preferred, got, want)
		}
	}
	n := el("p", sayAttr("title", "{0} of {1}", words("a"), number(2)), say("{0} of {1}", words("<a>"), number(2)))
	for tag, want := range map[string]string{
		"en":    `<p title="a of 2">&lt;a&gt; of 2</p>`,
		"he":    `<p title="2 &lt;של&gt; ` + isolate + `a` + isolated + `">2 &lt;של&gt; <bdi>&lt;a&gt;</bdi></p>`,
		"ar-XB": `<p title="⟦` + isolate + `a` + isolated + ` óf 2⟧">⟦<bdi>&lt;a&gt;</bdi> óf 2⟧</p>`,
	} {
		var page strings.Builder
		if n.write(&writer{to: &page, in: all[tag]}); page.String() != want {
			t.Errorf("%s: %s, want %s", tag, page.String(), want)
		}
	}
	if all["he"].dir != "rtl" || all["en"].dir != "ltr" {
		t.Error("a language has the wrong direction")
	}
}

// TestLogicalStyle: the style sheet names no side, so that it also fits pages that are written from right to left.
func TestLogicalStyle(t *testing.T) {
	t.Parallel()
	sheet, err := files.ReadFile("static/console.css")
	if err != nil {
		t.Fatal(err)
	}
	if sides := regexp.MustCompile(`[^;{}]*\b(left|right)\b[^;{}]*`).FindAllString(string(sheet), -1); len(sides) > 0 {
		t.Errorf("want start or end in %q", sides)
	}
}
