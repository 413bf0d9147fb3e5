package server

import (
	"context"
	"net/http"

	"github.com/ebbflow/ebb/storage"
)

// A Caller is who sent a request. [Server.Guard] names the caller of each request that it passes on. A program with its
// own login does so with [WithCaller].
type Caller struct {
	Name    string // name of the key; "" if the server requires no key
	Operate bool   // may change something; otherwise the caller may only read
	Login   bool   // came with the cookie of a login, and so may log out
	// Via is how the request came, for the audit; "" means that the handler decides.
	Via storage.Via
}

type callerKey struct{}

// WithCaller returns a context that names the caller of a request.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller that a context names. Without one, ok is false, and the caller may only read.
func CallerOf(ctx context.Context) (c Caller, ok bool) {
	c, ok = ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// callerOf returns the caller of a request. Without keys, everyone who reaches the server may operate it.
func (s *Server) callerOf(r *http.Request) Caller {
	if s.isOpen(r) {
		return Caller{Operate: true}
	}
	of := s.holderOf(r)
	if of == nil {
		return Caller{}
	}
	return Caller{Name: of.name, Operate: of.operates(), Login: of.login}
}
