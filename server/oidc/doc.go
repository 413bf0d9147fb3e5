// Package oidc logs people in to a console with OpenID Connect. A program puts [Login.Guard] before the handler of
// package console, as it would put any login of its own:
//
//	login, err := oidc.New(oidc.Options{
//		Issuer: "https://login.example.org", Client: "ebb", Secret: secret,
//		Callback: "https://ops.example.org/ebb/callback",
//		Caller: func(p oidc.Person) (server.Caller, bool) {
//			return server.Caller{Name: p.Email, Operate: slices.Contains(p.Groups, "on-call")}, p.Email != ""
//		},
//	})
//	…
//	mux.Handle("/ebb/", login.Guard(console.New(store, console.Options{})))
//
// It uses the authorization code flow with PKCE (OpenID Connect Core 1.0, section 3.1; RFC 7636). A browser keeps the
// session in a signed cookie. The server keeps nothing.
package oidc
