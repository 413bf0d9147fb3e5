package oidc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzCookie: only a cookie that was set is read: of the same kind, program and key, unchanged, and before its end.
func FuzzCookie(f *testing.F) {
	now := time.Unix(1_000_000, 0)
	c := newCookies([]byte(strings.Repeat("k", keySize)), "https://ops.example.org/ebb/callback", "/ebb/", true)
	w := httptest.NewRecorder()
	set(c, w, sessionKind, session{"ann", true}, now.Add(time.Hour))
	made := w.Result().Cookies()[0].Value
	if header := w.Header().Get("Set-Cookie"); !strings.Contains(header, "; HttpOnly; Secure; SameSite=Lax") || !strings.Contains(header, "Path=/ebb/") {
		f.Errorf("it is set as %s", header)
	}
	read := func(c *cookies, k kind, value string, now time.Time) (session, bool) {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/ebb/", http.NoBody)
		r.AddCookie(&http.Cookie{Name: string(k) + c.suffix, Value: "of.another"})
		r.AddCookie(&http.Cookie{Name: string(k) + c.suffix, Value: value})
		return get[session](c, r, k, now)
	}
	if who, ok := read(c, sessionKind, made, now); !ok || who != (session{"ann", true}) {
		f.Errorf("it is read as %v, %t", who, ok)
	}
	if _, ok := read(c, sessionKind, made, now.Add(time.Hour)); ok {
		f.Error("it is read when it has expired")
	}
	if _, ok := read(c, loginKind, made, now); ok {
		f.Error("it is read as a cookie of another kind")
	}
	for name, other := range map[string]*cookies{
		"key":     newCookies([]byte(strings.Repeat("x", keySize)), "https://ops.example.org/ebb/callback", "/ebb/", true),
		"program": newCookies(c.key, "https://ops.example.org/other/callback", "/other/", true),
	} {
		if _, ok := read(other, sessionKind, made, now); ok {
			f.Errorf("a cookie of another %s is read", name)
		}
	}
	for _, text := range []string{"", ".", made + "x", "x" + made, strings.ToUpper(made), made[:len(made)-1]} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok := read(c, sessionKind, text, now); ok && text != made {
			t.Errorf("%q is read", text)
		}
	})
}
