package console_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCompare compares a run that succeeded with one that failed: they diverge where a result differs, before one fails.
func TestCompare(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	price := 7
	a := atom.Func("a", func(context.Context, struct{}) (int, error) { return 1, nil })
	b := atom.Func("b", func(context.Context, struct{}) (int, error) { return price, nil })
	c := atom.Func("c", func(context.Context, struct{}) (string, error) {
		if price > 7 {
			return "", errors.New(hostile)
		}
		return "ok", nil
	})
	eng, err := engine.New(flow.Linear("f", a, b, c), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	price = 8
	if _, err := eng.Run(t.Context(), "bad"); err == nil {
		t.Fatal("the run succeeded")
	}
	h := console.New(store, console.Options{})
	body := html.UnescapeString(get(t, h, http.MethodGet, "/compare?a=good&b=bad").Body.String())
	rows := map[string]string{}
	for _, row := range regexp.MustCompile(`<tr><td[^>]*>(.*?)</td>(.*?)</tr>`).FindAllStringSubmatch(body, -1) {
		rows[row[1]] = row[2]
	}
	for row, want := range map[string]string{"a": `class="says"></td>`, "b": "<b>here the runs diverge:</b> result</td>", "c": ">state, result</td>"} {
		if !strings.HasSuffix(rows[row], want) {
			t.Errorf("%s does not end with %q: %q", row, want, rows[row])
		}
	}
	if !strings.Contains(rows["b"], "<code>8</code>") {
		t.Errorf("the row of b is %q", rows["b"])
	}
	price = 6
	if _, err := eng.Run(t.Context(), "cheap"); err != nil {
		t.Fatal(err)
	}
	body = get(t, h, http.MethodGet, "/compare?a=good&b=cheap").Body.String()
	if !strings.Contains(body, ">≠ SUCCESS {≠}</text>") || strings.Contains(body, "SUCCESS | SUCCESS") {
		t.Errorf("the graph does not say that only a result differs:\n%s", body)
	}
	var w *httptest.ResponseRecorder
	for address, want := range map[string]string{"/compare": "Compare two runs", "/compare?a=good": "Compare two runs", "/compare?a=good&b=none": "no run none"} {
		if w = get(t, h, http.MethodGet, address); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
}
