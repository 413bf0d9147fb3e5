package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// A browser logs in with a key: a person pastes it once on the console's page for that, and the browser gets a cookie.
// The cookie is signed with the hash of the key. So it opens nothing once the key is removed from the file,
// or once the browser has logged out.

// Paths of the console that the server answers itself.
const (
	consolePath = "/console/"
	loginPath   = consolePath + "login"
	logoutPath  = consolePath + "logout"
)

const (
	loginCookie  = "ebb-console"   // begins the name of the cookie
	hostPrefix   = "__Host-"       // with it, no server without TLS and no other host can set the cookie
	loginTime    = 12 * time.Hour  // after which a person must log in again
	loginPause   = time.Second     // before a wrong key is answered
	loginPauses  = 16              // wrong keys that are answered at the same time
	maxLoginForm = 4 << 10         // bytes of the form
	signedFor    = "ebb console 2" // separates the signature from other uses of the hash
)

// maxLogouts bounds the memory for cookies that must not be accepted any more.
//
//limit:http logouts from the console that a server remembers | {} | forgets the one whose cookie expires first
const maxLogouts = 10_000

// isConsole reports whether a request is for a page of the console.
func isConsole(r *http.Request) bool {
	return strings.HasPrefix(path.Clean(r.URL.Path)+"/", consolePath)
}

// isPublic reports whether a request is for something of the console that needs no key: the page on which a person logs
// in, and what pages look like. It reads the path as the console does, which answers with a page where a path ends with
// a slash.
func isPublic(r *http.Request) bool {
	if !isConsole(r) {
		return false
	}
	switch path.Ext(r.URL.Path) {
	case ".css", ".js", ".svg":
		return reads(r.Method)
	}
	return r.URL.Path == loginPath || r.URL.Path == logoutPath
}

// cookieFor returns a cookie of the console for the port that a request is for. Browsers send the cookies of a host to
// all of its ports, so that two servers on one host would otherwise overwrite each other's.
func cookieFor(r *http.Request) *http.Cookie {
	name, path := loginCookie, consolePath
	_, port, err := net.SplitHostPort(r.Host)
	if n, wrong := strconv.ParseUint(port, 10, 16); err == nil && wrong == nil {
		name += "-" + strconv.FormatUint(n, 10)
	}
	if r.TLS != nil {
		name, path = hostPrefix+name, "/" // the prefix demands this path
	}
	//nolint:gosec // it is Secure if there is TLS; without, only this machine can reach the server, or a proxy
	return &http.Cookie{
		Name: name, Path: path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	}
}

// signature returns the signature of a cookie: of the name of a key, and of when the cookie expires.
func signature(key [sha256.Size]byte, name, expires string) []byte {
	mac := hmac.New(sha256.New, key[:])
	for _, part := range []string{signedFor, name, expires} {
		_, _ = mac.Write([]byte(part + "\x00")) // never fails
	}
	return mac.Sum(nil)
}

// cookieOf returns the value of a cookie for the holder of a key.
func cookieOf(key [sha256.Size]byte, name string, expires time.Time) string {
	until := strconv.FormatInt(expires.UnixNano(), 10) // so that each login has its own cookie
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(name)) + "." + until + "." + encode(signature(key, name, until))
}

// ofCookie returns the holder of the key with which a request's cookie was signed; nil if there is none. Servers on
// other ports of the host can set cookies of the name, which may come first. So the first valid one counts.
func (k *keyring) ofCookie(r *http.Request, now time.Time) *holder {
	for _, cookie := range r.CookiesNamed(cookieFor(r).Name) {
		if of, signed, _ := k.loginOf(cookie.Value, now); of != nil && !k.loggedOut(signed) {
			return of
		}
	}
	return nil
}

// loginOf returns who logged in with a cookie of a value, the signature of the cookie, and when it expires. The holder
// is nil if the cookie is not valid.
func (k *keyring) loginOf(value string, now time.Time) (of *holder, signed string, expires time.Time) {
	parts := strings.Split(value, ".")
	if len(parts) != 3 { //nolint:mnd // name, time and signature
		return nil, "", expires
	}
	name, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil {
		return nil, "", expires
	}
	until, err := strconv.ParseInt(parts[1], 10, 64)
	if expires = time.Unix(0, until); err != nil || now.After(expires) {
		return nil, "", expires
	}
	given, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return nil, "", expires
	}
	for key, one := range k.now().holders {
		if one.name == string(name) && hmac.Equal(given, signature(key, one.name, parts[1])) {
			one.login = true
			return &one, string(given), expires
		}
	}
	return nil, "", expires
}

// logOut makes a request's cookies, and every copy of them, invalid for this process.
func (k *keyring) logOut(r *http.Request, now time.Time) {
	for _, cookie := range r.CookiesNamed(cookieFor(r).Name) {
		if of, signed, expires := k.loginOf(cookie.Value, now); of != nil {
			k.end(signed, expires, now)
		}
	}
}

// end makes a cookie with a signature invalid.
func (k *keyring) end(signed string, expires, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended == nil {
		k.ended = map[string]time.Time{}
	}
	k.ended[signed] = expires
	first := signed // that expires
	for one, at := range k.ended {
		if now.After(at) {
			delete(k.ended, one)
		} else if at.Before(k.ended[first]) {
			first = one
		}
	}
	if len(k.ended) > maxLogouts {
		delete(k.ended, first)
	}
}

// loggedOut reports whether the cookie with a signature was used to log out.
func (k *keyring) loggedOut(signed string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, is := k.ended[signed]
	return is
}

// login answers the form in which a person gave a key. A wrong key is answered late, and only some at a time.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLoginForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, "the form cannot be read", http.StatusBadRequest)
		return
	}
	next := nextPage(r.PostForm.Get("next"))
	key := sha256.Sum256([]byte(strings.TrimSpace(r.PostForm.Get("key"))))
	of, known := s.keys.now().holders[key]
	if !known || !of.may(http.MethodGet, consolePath) {
		s.refuseLogin(r.Context(), w, next)
		return
	}
	cookie := cookieFor(r) //nolint:gosec // it sets the attributes
	cookie.Expires = time.Now().Add(loginTime)
	cookie.Value = cookieOf(key, of.name, cookie.Expires)
	http.SetCookie(w, cookie)
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // nextPage leads to the console only
}

func (s *Server) refuseLogin(ctx context.Context, w http.ResponseWriter, next string) {
	select {
	case s.logins <- struct{}{}:
		defer func() { <-s.logins }()
	default:
		w.Header().Set("Retry-After", "2")
		http.Error(w, "too many wrong keys; try again", http.StatusTooManyRequests)
		return
	}
	pause := time.NewTimer(loginPause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	w.Header().Set("Location", loginAddress(next)+"&wrong=1")
	w.WriteHeader(http.StatusSeeOther)
}

// loginAddress returns the address of the page on which a person logs in and then gets to the next one.
func loginAddress(next string) string { return loginPath + "?next=" + url.QueryEscape(next) }

// nextPage returns the page after the login: always a page of the console, for any requested page.
func nextPage(asked string) string {
	to, err := url.Parse(asked)
	if err != nil || to.IsAbs() || to.Host != "" {
		return consolePath
	}
	clean := path.Clean("/" + to.Path)
	if !strings.HasPrefix(clean, consolePath) || clean == loginPath {
		return consolePath
	}
	return (&url.URL{Path: clean, RawQuery: to.RawQuery}).String()
}

// logout ends the login of a browser, and has the browser forget its cookie.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	s.keys.logOut(r, time.Now())
	cookie := cookieFor(r) //nolint:gosec // it sets the attributes
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
	http.Redirect(w, r, loginAddress(consolePath), http.StatusSeeOther)
}

// isForeign reports whether a page of another site, or of another port of this host, made a browser send a request.
func isForeign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// isLink reports whether a request of a page of another site is for a whole page, to which that site links. Such a
// request is answered with [again], whatever the page is.
func isLink(r *http.Request) bool {
	return isForeign(r) && reads(r.Method) && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// again makes a browser ask again for a page to which another site linked. The browser may send no cookie with the
// first request, because it came from that site, but it does with the second. And the other site learns nothing about
// the page.
func again(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Refresh", "0; url="+pageOf(r))
	_, _ = w.Write([]byte("<!doctype html><html lang=en><title>Ebb</title><p>One moment…</p></html>\n"))
}

// pageOf returns the address of a page on this server: a path that begins with two slashes would name another.
func pageOf(r *http.Request) string {
	return (&url.URL{Path: path.Clean("/" + r.URL.Path), RawQuery: r.URL.RawQuery}).String()
}

// loginInstead answers a browser that asks for a page of the console without a key. It reports whether it did.
func (s *Server) loginInstead(w http.ResponseWriter, r *http.Request) bool {
	if !reads(r.Method) || !isConsole(r) && r.URL.Path != "/" || r.Header.Get("Authorization") != "" ||
		!strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	http.Redirect(w, r, loginAddress(pageOf(r)), http.StatusSeeOther) //nolint:gosec // leads to the login
	return true
}

// loginHandler returns what answers a request to log in or out; nil for other requests.
func (s *Server) loginHandler(r *http.Request) http.Handler {
	if s.keys == nil || r.Method != http.MethodPost {
		return nil
	}
	switch r.URL.Path {
	case loginPath:
		return http.HandlerFunc(s.login)
	case logoutPath:
		return http.HandlerFunc(s.logout)
	}
	return nil
}
