package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/server"
)

const (
	loginTime    = 10 * time.Minute // that a person has at the provider
	maxExchanges = 16               // codes that are exchanged at the same time
	maxNext      = 2 << 10          // bytes of the address of the page that a person wants; a cookie holds it
	logoutName   = "logout"         // last element of the path to which the console's form goes
)

// A Login logs people in. It is safe for concurrent use.
type Login struct {
	o         Options
	callback  string // path
	home      string // folder of the callback: where people get to who asked for no page
	cookies   *cookies
	exchanges chan struct{}

	mu       sync.Mutex
	provider *gooidc.Provider // nil until it has answered
}

// begun is a login that a browser has begun. The browser keeps it until the provider sends it back.
type begun struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"` // page that the person wants
}

// session is a login that has succeeded.
type session struct {
	Name    string `json:"name"`
	Operate bool   `json:"operate"`
}

// New returns a login. It asks the provider nothing: that happens when the first person logs in, and again if the
// provider did not answer. An error names the option and what it should be.
func New(o Options) (*Login, error) {
	o, callback, err := o.checked()
	if err != nil {
		return nil, err
	}
	home := strings.TrimSuffix(path.Dir(callback.Path), "/") + "/"
	return &Login{
		o: o, callback: callback.Path, home: home,
		cookies:   newCookies(o.Key, o.Callback, home, callback.Scheme == "https"),
		exchanges: make(chan struct{}, maxExchanges),
	}, nil
}

// Guard returns a handler that answers the callback and passes on requests of people who have logged in. It names them
// with [server.WithCaller]. A browser that asks for a page without a login is sent to the provider and back to that
// page. Other requests without a login get 401, and changes that a page of another site sends get 403. A POST to a path
// that ends with /logout ends the session of the browser, not that at the provider.
func (l *Login) Guard(next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sameSite.Check(r) != nil {
			say(w, http.StatusForbidden, "the request came from a page of another site")
			return
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case r.URL.Path == l.callback:
			l.finish(w, r)
			return
		case r.Method == http.MethodPost && path.Base(r.URL.Path) == logoutName:
			l.cookies.drop(w, sessionKind)
			say(w, http.StatusOK, "You have logged out. Open "+l.home+" to log in again.")
			return
		}
		who, ok := get[session](l.cookies, r, sessionKind, time.Now())
		switch {
		case ok:
			caller := server.Caller{Name: who.Name, Operate: who.Operate, Login: true}
			next.ServeHTTP(w, r.WithContext(server.WithCaller(r.Context(), caller)))
		case reads && strings.Contains(r.Header.Get("Accept"), "text/html"):
			l.begin(w, r)
		default:
			say(w, http.StatusUnauthorized, "log in first: open "+l.home+" in a browser")
		}
	})
}

// begin sends a browser to the provider.
func (l *Login) begin(w http.ResponseWriter, r *http.Request) {
	client, _, err := l.client(r.Context())
	if err != nil {
		l.fail(w, "the login provider does not answer", err)
		return
	}
	b := begun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: l.home}
	if asked := r.URL.RequestURI(); strings.HasPrefix(asked, l.home) && len(asked) <= maxNext {
		b.Next = asked
	}
	set(l.cookies, w, loginKind, b, time.Now().Add(loginTime))
	w.Header().Set("Cache-Control", "no-store")
	to := client.AuthCodeURL(b.State, gooidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// finish answers the request with which the provider sends a browser back.
func (l *Login) finish(w http.ResponseWriter, r *http.Request) {
	b, ok := get[begun](l.cookies, r, loginKind, time.Now())
	l.cookies.drop(w, loginKind)
	query := r.URL.Query()
	switch {
	case r.Method != http.MethodGet:
		say(w, http.StatusMethodNotAllowed, "want GET")
		return
	case !ok || subtle.ConstantTimeCompare([]byte(b.State), []byte(query.Get("state"))) != 1:
		say(w, http.StatusBadRequest, "This login took too long, or another one began after it. Open "+l.home+" to log in.")
		return
	case query.Get("error") != "":
		l.o.Log.Warn(logevent.LoginRefused, "error", clip(query.Get("error")+": "+query.Get("error_description")))
		say(w, http.StatusForbidden, "The login provider refused: "+clip(query.Get("error"))+".")
		return
	}
	select {
	case l.exchanges <- struct{}{}:
		defer func() { <-l.exchanges }()
	default:
		w.Header().Set("Retry-After", "1")
		say(w, http.StatusServiceUnavailable, "Too many people log in at once. Open "+l.home+" again.")
		return
	}
	p, err := l.person(r.Context(), query.Get("code"), b)
	if err != nil {
		l.fail(w, "the login failed", err)
		return
	}
	caller, ok := l.o.Caller(p)
	if !ok {
		l.o.Log.Warn(logevent.LoginRefused, "error", "Options.Caller does not know "+clip(p.Subject))
		say(w, http.StatusForbidden, "You may not enter. Ask who operates this program.")
		return
	}
	set(l.cookies, w, sessionKind, session{caller.Name, caller.Operate}, time.Now().Add(l.o.Session))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, b.Next, http.StatusSeeOther) // a path below home, signed by begin
}

// person exchanges a code for an ID token, and returns whom it names. The library checks issuer, audience, times and
// signature (OpenID Connect Core 1.0, section 3.1.3.7).
func (l *Login) person(ctx context.Context, code string, b begun) (Person, error) {
	ctx = gooidc.ClientContext(ctx, l.o.HTTP)
	client, provider, err := l.client(ctx)
	if err != nil {
		return Person{}, err
	}
	tokens, err := client.Exchange(ctx, code, oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return Person{}, err
	}
	raw, is := tokens.Extra("id_token").(string)
	if !is {
		return Person{}, errors.New("the provider sent no ID token")
	}
	token, err := provider.Verifier(&gooidc.Config{ClientID: l.o.Client}).Verify(ctx, raw)
	if err != nil {
		return Person{}, err
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(b.Nonce)) != 1 {
		return Person{}, errors.New("the ID token is of another login: its nonce differs")
	}
	var claims struct {
		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		Name     string   `json:"name"`
		Groups   []string `json:"groups"`
	}
	if err := token.Claims(&claims); err != nil {
		return Person{}, fmt.Errorf("the claims of the ID token: %w", err)
	}
	if !claims.Verified {
		claims.Email = ""
	}
	return Person{Subject: token.Subject, Email: claims.Email, Name: claims.Name, Groups: claims.Groups}, nil
}

// client returns what the provider says of itself, asked once.
func (l *Login) client(ctx context.Context) (*oauth2.Config, *gooidc.Provider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.provider == nil {
		p, err := gooidc.NewProvider(gooidc.ClientContext(ctx, l.o.HTTP), l.o.Issuer)
		if err != nil {
			return nil, nil, err
		}
		l.provider = p
	}
	return &oauth2.Config{
		ClientID: l.o.Client, ClientSecret: l.o.Secret, RedirectURL: l.o.Callback, Endpoint: l.provider.Endpoint(),
		Scopes: append([]string{gooidc.ScopeOpenID, "email", "profile"}, l.o.Scopes...),
	}, l.provider, nil
}

// fail answers that a login cannot succeed now. Only the log gets the reason.
func (l *Login) fail(w http.ResponseWriter, what string, err error) {
	l.o.Log.Error(logevent.LoginFailed, "error", clip(err.Error()))
	say(w, http.StatusBadGateway, what+"; the log of this program has the reason. Open "+l.home+" to try again.")
}

// say answers with a text.
func say(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) //nolint:gosec // browsers show it as it is; one may have left
}

// clip bounds a text from outside.
func clip(text string) string {
	const most = 500
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
