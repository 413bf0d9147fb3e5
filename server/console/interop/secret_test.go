package interop_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// parameter is part of the path of an operation.
var parameter = regexp.MustCompile(`\{(\w+)[^}]*\}`)

// TestSecretNowhere: no page and no answer of the API to a reader has a byte of a secret.
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
		for path, operations := range api.Paths {
			if _, reads := operations["get"]; reads && !strings.Contains(path, "stream") {
				path = parameter.ReplaceAllStringFunc(path, func(p string) string {
					if strings.HasPrefix(p, "{run") || strings.HasPrefix(p, "{id") {
						return url.PathEscape(run)
					}
					return url.PathEscape(atom)
				})
				asked = append(asked, s.address+path)
			}
		}
	}
	pages := crawl(t, s.page(""), 20, from...)
	held := 0
	for _, address := range append(pages, asked...) {
		text, err := fetch(t.Context(), address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
		}
		if strings.Contains(text, secretText) {
			t.Errorf("%s has the secret", address)
		}
		if strings.Contains(text, `***`) {
			held++
		}
	}
	if held < len(secret) {
		t.Errorf("only %d pages and answers leave out a secret", held)
	}
	t.Logf("%d pages, %d answers of the API, %d of them leave out a secret", len(pages), len(asked), held)
}
