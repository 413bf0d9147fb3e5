package server

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// A visitor is a browser at a server whose handlers only say who the caller is.
type visitor struct {
	*testing.T

	s      *Server
	cookie string
	scheme string // "" is http
}

func newVisitor(t *testing.T, o Options) *visitor {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{T: t, s: s}
}

// ask sends a request with the headers of a browser, and keeps the cookie that it gets.
func (v *visitor) ask(method, target, form string, headers ...string) (w *httptest.ResponseRecorder, as Caller) {
	v.Helper()
	r := httptest.NewRequestWithContext(v.Context(), method, cmp.Or(v.scheme, "http")+"://localhost:8083"+target, strings.NewReader(form))
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if v.cookie != "" {
		r.Header.Set("Cookie", v.cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if r.Header.Get("Remote") != "" {
		r.RemoteAddr = r.Header.Get("Remote")
	}
	w = httptest.NewRecorder()
	v.s.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { as, _ = CallerOf(r.Context()) })).ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if v.cookie = c.Name + "=" + c.Value; c.MaxAge < 0 {
			v.cookie = ""
		}
		if secure := r.TLS != nil; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != secure ||
			c.Path == "/" != secure || strings.HasPrefix(c.Name, "__Host-") != secure {
			v.Errorf("the cookie is %v", c)
		}
	}
	return w, as
}

// TestPathsOfPages asks for pages of the console under paths that look like one of its files, like the login, or like
// the path of another handler. The console answers with its home where a path ends with a slash, and otherwise looks at
// the last element. An escaped slash separates elements for the console, but not for [http.ServeMux].
//
// Attack (Keys, certificates and settings): A page of the console without its key, under a path such as
// `/console/x.svg/`, `/console/login/` or `/console/..%2Fmetrics%2Fruns`.
// Result: Refused.
func TestPathsOfPages(t *testing.T) {
	t.Parallel()
	keys := keyFile(t, "ann "+rightKey+" view\nprometheus "+workersKey+" metrics\n")
	v := newVisitor(t, Options{Keys: keys})
	for target, open := range map[string]bool{
		"/console/console.123.css": true, "/console/trial/7/icon.svg": true, "/console/login?next=%2F": true,
		"/console/x.svg/": false, "/console/x.css//": false, "/console/x.js/.": false, "/console/x.js/run": false,
		"/console/x.svg/run/..": false, "/console/login/": false, "/console/logout/": false, "/console/./login/": false,
		"/console/x%2Esvg%2F": false, "/console/x.svg%2Frun%2F..": false, "/console/?x.svg": false,
		"/console/..%2Flivez": false,
	} {
		if w, _ := v.ask(http.MethodGet, target, ""); (w.Code == http.StatusOK) != open {
			t.Errorf("%s without a key: %d", target, w.Code)
		}
	}
	disguised := []string{
		"/console/..%2Fmetrics%2Fruns", "/console/..%2F..%2Fmetrics/runs", "/%63onsole/..%2Fmetrics",
		"/api/v1/runs/..%2F..%2F..%2Fmetrics", "/console/..%2Fconsole%2F..%2Fmetrics%2Fstream",
	}
	for _, target := range []string{"/api/v1/runs/..%2Fa", "/api/v1/runs/a%2Fb", "/console/run?id=..%2F..%2Fx", "/%63onsole/"} {
		if w, _ := v.ask(http.MethodGet, target, "", "Authorization", "Bearer "+rightKey); w.Code != http.StatusOK {
			t.Errorf("%s with a key: %d", target, w.Code)
		}
	}
	proxied := newVisitor(t, Options{Proxy: &Proxy{Header: "X-User", From: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}})
	for _, target := range disguised {
		for _, key := range []string{workersKey, rightKey} {
			if w, _ := v.ask(http.MethodGet, target, "", "Authorization", "Bearer "+key); w.Code != http.StatusForbidden {
				t.Errorf("%s with the key %s: %d", target, key, w.Code)
			}
		}
		if w, as := proxied.ask(http.MethodGet, target, ""); w.Code == http.StatusOK || as != (Caller{}) {
			t.Errorf("%s past the proxy: %d as %+v", target, w.Code, as)
		}
	}
}

// keyFile writes keys, and returns the file.
func keyFile(t *testing.T, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestLogin logs in with a key, and out. The cookie ends with its time, with its key, and with any change of it. It
// opens the console only. Wrong keys are answered late.
//
// Attack (Keys, certificates and settings): Wrong keys at the login; a cookie that is forged, changed, expired, for
// another path, whose key was removed, or with which a browser logged out of the same process.
// Result: Refused. Each wrong key costs a second, and at most 16 wait.
func TestLogin(t *testing.T) {
	t.Parallel()
	const viewKey, operateKey = rightKey + "v", rightKey + "o"
	file := keyFile(t, "ann "+viewKey+" view\nbob "+operateKey+" operate\npython "+workersKey+" tasks\n")
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, Options{Keys: file})
		run := "/console/run?id=a%26b&view=undo"
		w, _ := v.ask(http.MethodGet, run, "")
		login := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || login != "/console/login?next="+url.QueryEscape(run) {
			t.Errorf("without a key: %d %s", w.Code, login)
		}
		if w, _ := v.ask(http.MethodGet, login, ""); w.Code != http.StatusOK {
			t.Errorf("the page to log in is %d", w.Code)
		}
		form := func(key, next string) string { return url.Values{"key": {key}, "next": {next}}.Encode() }
		for _, key := range []string{wrongKey, workersKey, ""} {
			began := time.Now()
			w, _ := v.ask(http.MethodPost, "/console/login", form(key, run))
			if v.cookie != "" || !strings.HasSuffix(w.Header().Get("Location"), "&wrong=1") || time.Since(began) < loginPause {
				t.Errorf("with %q: %d %v after %v", key, w.Code, w.Header(), time.Since(began))
			}
		}
		for next, want := range map[string]string{
			run: run, "https://evil.example/console/": "/console/", "//evil.example/console/": "/console/", "": "/console/",
			"/console/login": "/console/", "/tasks/take": "/console/", "/": "/console/", "%zz": "/console/",
			"/console/..//evil.example": "/console/",
		} {
			if w, _ := v.ask(http.MethodPost, "/console/login", form(" "+operateKey+"\n", next)); w.Header().Get("Location") != want {
				t.Errorf("the login leads from %q to %q", next, w.Header().Get("Location"))
			}
		}
		if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{Name: "bob", Operate: true, Login: true}) {
			t.Errorf("the caller is %+v", as)
		}
		if w, as := v.ask(http.MethodPost, "/console/act", "a=b", "Origin", "http://localhost:8083"); w.Code != http.StatusOK || !as.Operate {
			t.Errorf("a form: %d as %+v", w.Code, as)
		}
		for _, target := range []string{"/api/v1/runs", "/metrics", "/tasks/take", "/console/../metrics"} {
			if w, as := v.ask(http.MethodGet, target, ""); w.Code < 300 || as != (Caller{}) {
				t.Errorf("the cookie opens %s: %d", target, w.Code)
			}
		}
		whole := v.cookie
		for i := strings.IndexByte(whole, '=') + 1; i < len(whole); i += 3 { // a change of each third character
			other := byte('A')
			if whole[i] == other {
				other = 'B'
			}
			v.cookie = whole[:i] + string(other) + whole[i+1:]
			if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{}) && v.cookie[:len(v.cookie)-1] != whole[:len(whole)-1] {
				t.Fatalf("the cookie %s counts as %s, for %v", v.cookie, whole, as)
			}
		}
		v.cookie = whole
		if w, _ := v.ask(http.MethodPost, "/console/logout", "x=", "Origin", "http://localhost:8083"); w.Code != http.StatusSeeOther || v.cookie != "" {
			t.Errorf("the logout: %d, and the cookie is %q", w.Code, v.cookie)
		}
		for _, copied := range []string{whole, whole[:len(whole)-1] + string(whole[len(whole)-1]+1)} { // decodes to the same
			v.cookie = copied
			if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{}) {
				t.Errorf("a copy of the cookie counts after the logout for %v", as)
			}
		}

		time.Sleep(time.Microsecond) // virtual: logins at one instant would have the same cookie
		v.ask(http.MethodPost, "/console/login", form(operateKey, run))
		if _, as := v.ask(http.MethodGet, run, ""); as.Name != "bob" {
			t.Errorf("the next login is of %+v", as)
		}
		if err := os.WriteFile(file+".new", []byte("ann "+viewKey+" view\nbob "+rightKey+" operate\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
		time.Sleep(keysAge)
		if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{}) {
			t.Errorf("the cookie of a key that was removed counts for %v", as)
		}
		v.cookie = ""
		v.ask(http.MethodPost, "/console/login", form(viewKey, run))
		if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{Name: "ann", Login: true}) {
			t.Errorf("the caller is %+v", as)
		}
		if w, as := v.ask(http.MethodPost, "/console/act", "a=b"); w.Code != http.StatusForbidden || as != (Caller{}) {
			t.Errorf("a viewer sends a form: %d", w.Code)
		}
		time.Sleep(loginTime + time.Second)
		if _, as := v.ask(http.MethodGet, run, ""); as != (Caller{}) {
			t.Errorf("the cookie counts after its time for %v", as)
		}
	})
}

// TestManyWrongKeys: only a bounded number of wrong keys wait for their answer. A right one logs in meanwhile.
func TestManyWrongKeys(t *testing.T) {
	t.Parallel()
	file := keyFile(t, "ann "+rightKey+" view\n")
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, Options{Keys: file})
		refused := make(chan int)
		for range 2 * loginPauses {
			go func() {
				w, _ := (&visitor{T: t, s: v.s}).ask(http.MethodPost, "/console/login", "key="+wrongKey)
				refused <- w.Code
			}()
		}
		synctest.Wait()
		if v.ask(http.MethodPost, "/console/login", "key="+rightKey); v.cookie == "" {
			t.Error("the right key does not open")
		}
		codes := map[int]int{}
		for range 2 * loginPauses {
			codes[<-refused]++
		}
		if codes[http.StatusSeeOther] != loginPauses || codes[http.StatusTooManyRequests] != loginPauses {
			t.Errorf("the answers are %v", codes)
		}
	})
}

// TestOtherCookies: a server on another port of the host may set cookies of the console's name, which may come first.
// They change nothing, and the logout ends the login. With TLS, only this host can set the cookie.
//
// Attack (Keys, certificates and settings): A server on another port of the host sets cookies of the console's name.
// Result: All of the name are tried. With TLS, the name begins with `__Host-`.
func TestOtherCookies(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "https"} {
		v := newVisitor(t, Options{Keys: keyFile(t, "ann "+rightKey+" view\n")})
		v.scheme = at
		v.ask(http.MethodPost, "/console/login", "key="+rightKey)
		name, _, _ := strings.Cut(v.cookie, "=")
		whole := name + "=x; " + name + "=YW5u.1.AAAA; " + v.cookie + "; " + name + "="
		v.cookie = whole
		if _, as := v.ask(http.MethodGet, "/console/", ""); as.Name != "ann" {
			t.Errorf("with other cookies of the name, the caller is %+v", as)
		}
		v.ask(http.MethodPost, "/console/logout", "x=", "Sec-Fetch-Site", "same-origin")
		v.cookie = whole
		if _, as := v.ask(http.MethodGet, "/console/", ""); as != (Caller{}) {
			t.Errorf("after the logout, the caller is %+v", as)
		}
	}
}

// TestLoginPorts: the cookies of two servers on one host have different names, for any port in a request.
func TestLoginPorts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"localhost:8083": "ebb-console-8083", "localhost:8084": "ebb-console-8084", "[::1]:8083": "ebb-console-8083",
		"localhost": "ebb-console", "localhost:": "ebb-console", "localhost:8083;a=b": "ebb-console", "x:99999": "ebb-console", "": "ebb-console",
	} {
		if got := cookieFor(&http.Request{Host: host}).Name; got != want {
			t.Errorf("%q has the cookie %q, want %q", host, got, want)
		}
	}
}

// TestManyLogouts logs out more often than a server remembers.
func TestManyLogouts(t *testing.T) {
	t.Parallel()
	k, err := newKeyring(keyFile(t, "ann "+rightKey+" view\n"), hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	now, key := time.Now(), sha256.Sum256([]byte(rightKey))
	request := func(n int) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/console/logout", http.NoBody)
		r.Header.Set("Cookie", cookieFor(r).Name+"="+cookieOf(key, "ann", now.Add(time.Hour+time.Duration(n))))
		return r
	}
	k.ended = map[string]time.Time{}
	for n := range maxLogouts {
		k.ended[strconv.Itoa(n)] = now.Add(time.Minute + time.Duration(n))
	}
	k.logOut(request(1), now)
	if _, there := k.ended["0"]; there || len(k.ended) != maxLogouts {
		t.Errorf("%d logouts are remembered, also the first: %t", len(k.ended), there)
	}
	if k.ofCookie(request(1), now) != nil || k.ofCookie(request(2), now) == nil {
		t.Error("another cookie than that of the logout is refused")
	}
	k.logOut(request(2), now.Add(2*time.Minute))
	k.logOut(request(3), now.Add(2*time.Hour)) // has expired
	if len(k.ended) != 2 {
		t.Errorf("%d logouts are remembered, want 2", len(k.ended))
	}
}
