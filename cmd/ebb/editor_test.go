package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/draft"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// newEditor returns what sends a form of the editor, and returns the page.
func newEditor(tb testing.TB) func(form url.Values) string {
	tb.Helper()
	store := memstore.New()
	tb.Cleanup(func() { _ = store.Close() })
	h := console.New(store, console.Options{Commands: api.New(store, api.Options{
		Languages: draft.New(&definition.Catalog{Store: store}, definition.Reading{}, nil), Trials: &server.Trials{},
	})})
	ctx := server.WithCaller(tb.Context(), server.Caller{Operate: true})
	return func(form url.Values) string {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/console/edit", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			tb.Fatalf("%d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
}

// shownProblem finds the place and the message of a problem in the editor.
var shownProblem = regexp.MustCompile(`data-line="(\d+)" data-column="(\d+)"[^>]*>[^<]*</a> ([^<]*) <`)

// TestConformanceEditor: the editor shows the problems that the API reports, which are those of ebb validate, see
// TestConformanceAPIValidation.
func TestConformanceEditor(t *testing.T) {
	t.Parallel()
	w, edit := newAPIWorld(t, memstore.New(), nil), newEditor(t)
	for i, record := range conformance.Verdicts(t) {
		form := url.Values{"do": {"check"}, "part": {"1"}, "f.text": {string(record.Source())}}
		body := map[string]any{"text": string(record.Source())}
		if record.Type == "EXPRESS" {
			form.Set("f.type", record.Type)
			body["type"] = record.Type
		}
		var answer struct{ Diagnostics []flow.Diagnostic }
		if err := json.Unmarshal([]byte(object(t, w.ask(http.StatusOK, http.MethodPost, "validate", "", object(t, body)))), &answer); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, d := range answer.Diagnostics {
			want = append(want, fmt.Sprintf("%d:%d %.200s", d.Line, d.Column, visible.Line(d.Message)))
		}
		problems, _, _ := strings.Cut(edit(form), "<h2>") // then come those that keep it from being stored here
		for _, found := range shownProblem.FindAllStringSubmatch(problems, -1) {
			got = append(got, fmt.Sprintf("%s:%s %.200s", found[1], found[2], html.UnescapeString(found[3])))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d: the editor shows\n%q\nthe API reports\n%q", i, got, want)
		}
	}
}

// BenchmarkEditor checks and draws a definition of 50 KB, as the editor does after a keystroke.
func BenchmarkEditor(b *testing.B) {
	edit := newEditor(b)
	var text strings.Builder
	text.WriteString(`{"StartAt": "S0", "States": {`)
	n := 0
	for ; text.Len() < 50<<10; n++ {
		fmt.Fprintf(&text, "\"S%d\": {\"Type\": \"Task\", \"Resource\": \"arn:aws:lambda:eu-west-1:123456789012:function:pay\",\n"+
			" \"Next\": \"S%d\"},\n", n, n+1)
	}
	fmt.Fprintf(&text, `"S%d": {"Type": "Succeed"}}}`, n)
	for b.Loop() {
		if page := edit(url.Values{"do": {"check"}, "part": {"1"}, "f.text": {text.String()}}); !strings.Contains(page, "<svg") {
			b.Fatal(page)
		}
	}
}
