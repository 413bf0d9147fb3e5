package server

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// TestConsoleOrigin: pages of other sites get nothing from the console, and their forms change nothing. A link from
// another site works: the browser asks again, with its cookie. So the other site learns nothing about the page.
//
// Attack (Keys, certificates and settings): A page of another site, or of another port, sends a form of the console,
// shows it in a frame, or asks for its pictures to learn which runs exist.
// Result: Refused.
func TestConsoleOrigin(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, Options{})
	own, evil := "http://localhost:8083", "http://evil.example"
	link := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, c := range []struct {
		method string
		want   int
		with   []string
	}{
		{http.MethodPost, http.StatusOK, []string{"Origin", own}},
		{http.MethodPost, http.StatusOK, []string{"Sec-Fetch-Site", "same-origin"}},
		{http.MethodGet, http.StatusOK, []string{"Origin", own}},
		{http.MethodPost, http.StatusForbidden, []string{"Origin", evil}},
		{http.MethodPost, http.StatusForbidden, []string{"Origin", "null"}},
		{http.MethodPost, http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site"}},
		{http.MethodPost, http.StatusForbidden, []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:9000"}},
		{http.MethodGet, http.StatusForbidden, []string{"Origin", evil}},
		{http.MethodGet, http.StatusOK, link},
		{http.MethodGet, http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}},
		{http.MethodGet, http.StatusForbidden, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}},
		{http.MethodGet, http.StatusForbidden, []string{"Sec-Fetch-Site", "cross-site"}},
	} {
		form := ""
		if c.method == http.MethodPost {
			form = "a=b"
		}
		w, _ := v.ask(c.method, "/console/act", form, c.with...)
		if w.Code != c.want || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s with %v: %d, want %d", c.method, c.with, w.Code, c.want)
		}
	}
	if w, as := v.ask(http.MethodGet, "/console/run?id=r&svg=1", "", link...); w.Header().Get("Refresh") == "" || as != (Caller{}) {
		t.Errorf("a link of another site is answered by the page itself: %v", w.Header())
	}
	if w, _ := v.ask(http.MethodPost, "/api/v1/jobs", "a=b", "Origin", own); w.Code != http.StatusForbidden {
		t.Errorf("a form of the console's origin at the API: %d", w.Code)
	}
	v = newVisitor(t, Options{Keys: keyFile(t, "ann "+rightKey+" view\n")})
	if w, _ := v.ask(http.MethodGet, "//console/run?id=r", "", link...); w.Header().Get("Refresh") != "0; url=/console/run?id=r" {
		t.Errorf("a path with two slashes leads to %v", w.Header())
	}
	w, _ := v.ask(http.MethodGet, "/console/run?id=r", "", link...)
	if w.Code != http.StatusOK || w.Header().Get("Refresh") != "0; url=/console/run?id=r" {
		t.Errorf("a link from another site: %d %v", w.Code, w.Header())
	}
}

// TestProxy: the header of a proxy names the caller, if it comes from the proxy's address, once, and for the console or
// the API. Without a key and without a name, a request is refused.
//
// Attack (Keys, certificates and settings): The header with which a proxy names the caller, sent by others, twice,
// empty, or to other paths.
// Result: Ignored.
func TestProxy(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, Options{Proxy: &Proxy{Header: "X-User", From: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}})
	inside, outside := "10.1.2.3:444", "10.2.2.3:444"
	ann := Caller{Name: "ann", Operate: true}
	for _, c := range []struct {
		target, from, user string
		want               Caller
	}{
		{"/console/", inside, "ann", ann},
		{"/api/v1/runs", inside, "ann", ann},
		{"/console/", "[::ffff:10.1.2.3]:444", "ann", ann},
		{"/console/", outside, "ann", Caller{}},
		{"/console/", inside, "", Caller{}},
		{"/console/", inside, strings.Repeat("x", maxCaller+1), Caller{}},
		{"/tasks/take", inside, "ann", Caller{Operate: true}}, // as without a proxy: the server requires no key
	} {
		if _, as := v.ask(http.MethodGet, c.target, "", "Remote", c.from, "X-User", c.user); as != c.want {
			t.Errorf("%s from %s as %.9q: %+v, want %+v", c.target, c.from, c.user, as, c.want)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/console/", http.NoBody)
	r.RemoteAddr = inside
	r.Header["X-User"] = []string{"ann", "bob"}
	w := httptest.NewRecorder()
	v.s.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("two names count as one") })).ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("with two names: %d", w.Code)
	}
}
