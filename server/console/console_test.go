package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

const hostile = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

// undone returns the pages of a store in which a run failed and was undone.
func undone(t *testing.T) http.Handler {
	t.Helper()
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	book := func(name string) *atom.Atom {
		return atom.Pair(name, func(context.Context, struct{}) (string, error) { return "hunter2", nil },
			func(context.Context, struct{}, atom.Outcome[string]) error { return nil }, atom.Secret())
	}
	pay := atom.Func("pay", func(context.Context, struct{}) (string, error) { return "", errors.New(hostile) })
	eng, err := engine.New(flow.Linear("trip", book("flight"), book("hotel"), pay), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Run(t.Context(), hostile); err == nil {
		t.Fatal("the run succeeded")
	}
	return console.New(store, console.Options{})
}

func get(t *testing.T, h http.Handler, method, address string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+address, http.NoBody))
	return w
}

// TestPages reads each page of a run that was undone, with hostile texts and secrets, below some path.
func TestPages(t *testing.T) {
	t.Parallel()
	h := undone(t)
	run := "run?id=" + url.QueryEscape(hostile)
	for page, want := range map[string]string{
		"": "Nothing needs you", "runs": "trip", "runs?state=REVERTED": "trip", "runs?state=RUNNING": "No run matches",
		"runs?did=none":     "trip",
		"runs?after=forged": "trip", "runs?filter=%00": "filter:1: ", "runs?state=" + url.QueryEscape(hostile): "is not known", "runs?filter=sate:X": "did you mean",
		"runs?filter=flow:trip+-code:Full": "trip", "runs?filter=-flow:tr*": "No run matches",
		run: "flight", run + "&view=graph": "<svg", run + "&view=timeline": "<rect", run + "&view=history": "REVERTING",
		run + "&view=history&after=x": "REVERTING", run + "&atom=hotel": "***", run + "&atom=none": "flight",
		run + "&below=": "hotel", run + "&below=" + url.QueryEscape("../"+hostile+"/[0]"): "No step has begun here",
		run + "&from=-1&below=": "flight", run + "&from=99999999999999999999&below=none": "All steps",
		"steps?id=" + url.QueryEscape(hostile) + "&from=1": "hotel", run + "&view=tree&below=&atom=flight": "***",
		"jobs": "no jobs", "schedules": "no schedules", "limits": "No limits", "processes": "Processes",
		"waiting": "No run waits", "definitions": "No definition", "doctor": "no checks", "audit": "No command was given",
	} {
		w := get(t, h, http.MethodGet, "/some/ops/"+page)
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(body, want) || !strings.HasSuffix(strings.TrimSpace(body), "</html>") {
			t.Errorf("%s: %d, want %q in\n%s", page, w.Code, want, body)
		}
		for _, never := range []string{"<script>", "<img", "hunter2", "style=", `="/`} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %q:\n%s", page, never, body)
			}
		}
		csp := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s has the policy %q", page, csp)
		}
		if len(body) > 100<<10 {
			t.Errorf("%s has %d bytes", page, len(body))
		}
	}
}

// TestUndoPage shows what was undone, last first.
func TestUndoPage(t *testing.T) {
	t.Parallel()
	body := get(t, undone(t), http.MethodGet, "/console/run?view=undo&id="+url.QueryEscape(hostile)).Body.String()
	_, list, _ := strings.Cut(body, "Undone, last first")
	if hotel, flight := strings.Index(list, "hotel"), strings.Index(list, "flight"); hotel < 0 || flight < hotel {
		t.Errorf("hotel is at %d, flight at %d of\n%s", hotel, flight, list)
	}
}

// TestRefused: the console changes nothing, and knows no other pages.
func TestRefused(t *testing.T) {
	t.Parallel()
	h := undone(t)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		if w := get(t, h, method, "/console/runs"); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	for _, page := range []string{"nothing", "run?id=none", "run", "home.html"} {
		if w := get(t, h, http.MethodGet, "/console/"+page); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", page, w.Code)
		}
	}
}

// TestFiles: each page names a style sheet and an icon that may be kept for ever.
func TestFiles(t *testing.T) {
	t.Parallel()
	h := undone(t)
	page := get(t, h, http.MethodGet, "/console/").Body.String()
	for rel, want := range map[string]string{"stylesheet": ".s-reverted", "icon": "<svg"} {
		_, rest, _ := strings.Cut(page, `rel="`+rel+`" href="`)
		name, _, _ := strings.Cut(rest, `"`)
		w := get(t, h, http.MethodGet, "/console/"+name)
		if w.Code != http.StatusOK || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}

// TestWindowedRows: a script that has the rows of a tree in its window gets the page without them.
func TestWindowedRows(t *testing.T) {
	t.Parallel()
	h := undone(t)
	address := "/console/run?view=tree&below=&id=" + url.QueryEscape(hostile)
	for windowed, want := range map[string]bool{"": true, "1": false} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		r.Header.Set("Ebb-Windowed", windowed)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body := w.Body.String()
		if got := strings.Contains(body, "<li data-key="); got != want || !strings.Contains(body, `<div data-own="" data-levels=""`) {
			t.Errorf("with Ebb-Windowed %q, it has rows: %t\n%s", windowed, got, body)
		}
	}
}
