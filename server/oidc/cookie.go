package oidc

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// cookies are values in a browser that only this program can make. The browser can read them.
type cookies struct {
	key    []byte
	suffix string // keeps apart the cookies of several programs on one host
	path   string
	secure bool
}

// A kind of cookie. Its name is signed too, so that none passes for another.
type kind string

const (
	loginKind   kind = "ebb-login"   // a login that has begun
	sessionKind kind = "ebb-session" // a login that has succeeded
)

// sealed is what a cookie holds.
type sealed[T any] struct {
	Until int64 `json:"until"` // Unix seconds
	Value T     `json:"value"`
}

func newCookies(key []byte, callback, path string, secure bool) *cookies {
	sum := sha256.Sum256([]byte(callback))
	return &cookies{key, "-" + hex.EncodeToString(sum[:4]), path, secure}
}

func (c *cookies) signature(k kind, text string) []byte {
	mac := hmac.New(sha256.New, c.key)
	_, _ = mac.Write([]byte(string(k) + c.suffix + "\x00" + text)) // never fails
	return mac.Sum(nil)
}

// set gives a browser a cookie.
func set[T any](c *cookies, w http.ResponseWriter, k kind, value T, until time.Time) {
	text, err := json.Marshal(sealed[T]{until.Unix(), value})
	if err != nil {
		panic(err) // values are strings and booleans
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	http.SetCookie(w, c.cookie(k, body+"."+base64.RawURLEncoding.EncodeToString(c.signature(k, body)), until))
}

// get returns the value of the first cookie of a request that is of c and has not expired; ok is false if there is
// none. Servers on other ports of the host can set cookies of the name, too.
func get[T any](c *cookies, r *http.Request, k kind, now time.Time) (value T, ok bool) {
	for _, cookie := range r.CookiesNamed(string(k) + c.suffix) {
		if value, ok = open[T](c, cookie.Value, k, now); ok {
			break
		}
	}
	return value, ok
}

func open[T any](c *cookies, text string, k kind, now time.Time) (value T, ok bool) {
	body, signed, _ := strings.Cut(text, ".")
	given, err := base64.RawURLEncoding.DecodeString(signed)
	if err != nil || !hmac.Equal(given, c.signature(k, body)) {
		return value, false
	}
	var held sealed[T]
	decoded, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(decoded, &held) != nil || now.Unix() >= held.Until {
		return value, false
	}
	return held.Value, true
}

// drop makes a browser forget a cookie.
func (c *cookies) drop(w http.ResponseWriter, k kind) {
	gone := c.cookie(k, "", time.Time{}) //nolint:gosec // as there
	gone.MaxAge = -1
	http.SetCookie(w, gone)
}

// cookie is sent with links from other sites, as with the one that leads back from the provider, but not with their
// forms.
func (c *cookies) cookie(k kind, value string, until time.Time) *http.Cookie {
	//nolint:gosec // it is Secure unless both ends are on this machine
	return &http.Cookie{
		Name: string(k) + c.suffix, Value: value, Path: c.path, Expires: until,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.secure,
	}
}
