package interop_test

import (
	"encoding/json"
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parameter is part of the path of an operation.
var parameter = regexp.MustCompile(`\{(\w+)[^}]*\}`)

// TestSecretNowhere: no page, no picture that a page offers as a file, of runs, of definitions and of two of them, and no answer of the
// API to a reader has a byte of a secret.
func TestSecretNowhere(t *testing.T) {
	t.Parallel()
	s := shared(t)
	from := []string{s.page("runs", "children", "1")}
	var api struct {
		Paths map[string]map[string]any
	}
	text, err := fetch(t.Context(), s.address+"/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &api); err != nil {
		t.Fatal(err)
	}
	secret := map[string]string{stuckRun: "room", signalRun: "reserve", parentRun: "child", parentRun + "/child": "inner"}
	var asked []string
	for run, atom := range secret {
		for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
			from = append(from, s.page("run", "id", run, "view", view, "atom", atom))
		}
		for route, operations := range api.Paths {
			if _, reads := operations["get"]; reads && !strings.Contains(route, "stream") {
				route = parameter.ReplaceAllStringFunc(route, func(p string) string {
					if strings.HasPrefix(p, "{run") || strings.HasPrefix(p, "{id") {
						return url.PathEscape(run)
					}
					return url.PathEscape(atom)
				})
				asked = append(asked, s.address+route)
			}
		}
	}
	for a := range secret {
		for b := range secret {
			from = append(from, s.page("compare", "a", a, "b", b))
		}
	}
	pages, texts := crawl(t, s.page(""), 8, append(from, comparedVersions(t, s)...)...)
	held := 0
	files := map[string]int{} // by the page
	for next := slices.Concat(pages, asked); len(next) > 0; next = next[1:] {
		address := next[0]
		text, read := texts[address]
		if !read {
			if text, err = fetch(t.Context(), address); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
		if strings.Contains(text, secretText) {
			t.Errorf("%s has the secret", address)
		}
		if strings.Contains(text, `***`) {
			held++
		}
		at := parse(t, address)
		if at.Query().Has("svg") {
			files[path.Base(at.Path)]++
			if at.Query().Has("with") {
				files["versions"]++
			}
			if !strings.HasPrefix(text, "<svg ") {
				t.Errorf("%s is not a picture: %.100s", address, text)
			}
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if to, err := at.Parse(html.UnescapeString(m[1])); err == nil && to.Query().Has("svg") {
				next = append(next, to.String())
			}
		}
	}
	if files["run"] < 2*len(secret) || files["definition"] == 0 || files["versions"] == 0 || files["compare"] < len(secret) {
		t.Errorf("the pages offer too few pictures: %v", files)
	}
	if held < len(secret) {
		t.Errorf("only %d pages and answers leave out a secret", held)
	}
	t.Logf("%d pages, %v pictures, %d answers of the API, %d of them leave out a secret", len(pages), files, len(asked), held)
}
