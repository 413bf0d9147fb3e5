package interop_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// TestTabTells: a tab tells what pages must not do, so that silence means something.
func TestTabTells(t *testing.T) {
	t.Parallel()
	pages := map[string]string{ // messages, by the page
		`<script>alert(1)</script>`:                           "a script opens a dialog",
		`<script>throw new Error("x")</script>`:               "a script throws",
		`<script>console.error("x")</script>`:                 "a script logs an error",
		`<img src="http://127.0.0.1:1/x.png">`:                "a request to http://127.0.0.1:1/x.png",
		`<link rel="stylesheet" href="none.css">`:             "the browser logs: Refused to apply style",
		`<p style="color:red">strict</p>`:                     "Content Security Policy",
		`<script>document.body.innerHTML="strict"</script>`:   "Content Security Policy",
		`<base href="https://evil.example/"><p>strict</p>`:    "Content Security Policy",
		`<iframe src="https://evil.example/">strict</iframe>`: "Content Security Policy",
		`<p>nothing</p>`: "",
		`<form action="https://evil.example/">nothing</form>`:   "",
		`<a href="https://evil.example/" rel="x">nothing</a>`:   "",
		`<img alt="strict" src="https://evil.example/one.png">`: "Content Security Policy",
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/favicon.ico", func(http.ResponseWriter, *http.Request) {})
	addresses := map[string]string{}
	for body, told := range pages {
		at := fmt.Sprintf("/%d/", len(addresses))
		addresses[at] = told
		mux.HandleFunc(at+"{$}", func(w http.ResponseWriter, _ *http.Request) {
			if strings.Contains(body, "strict") {
				w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'")
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = fmt.Fprint(w, "<!doctype html><title>x</title><body>"+body) // the browser is there
		})
	}
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	b := open(t, look{1280, false, true})
	for at, told := range addresses {
		b.visit(web.URL + at)
		problems := b.took()
		if told == "" && len(problems) > 0 || told != "" && !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, told) }) {
			t.Errorf("want %q, got %q", told, problems)
		}
	}
}
