package server

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
)

// Live answers GET with 200 as long as the process can answer at all. It belongs at /livez, where [Server.Guard] wants
// no key and lets it answer however many requests are at work.
func Live() http.Handler {
	return Only(http.MethodGet, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }))
}

// Ready answers GET with 200 when ready returns nil, such as that of a conductor, else with 503. It belongs at
// /readyz, where [Server.Guard] wants no key. Only a client that shows a key for everything is told the reason, which
// may name the database, its host and its user. The log gives each reason once.
func (s *Server) Ready(ready func(context.Context) error) http.Handler {
	var last atomic.Pointer[string] // reason
	return Only(http.MethodGet, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := ready(r.Context())
		if err == nil {
			last.Store(nil)
			say(w, http.StatusOK, "ok")
			return
		}
		if s.trusts(r) {
			refuse(w, &Problem{http.StatusServiceUnavailable, "not_ready", err.Error()})
			return
		}
		reason := err.Error()
		if was := last.Swap(&reason); was == nil || *was != reason {
			s.log.Warn("not ready", "error", reason)
		}
		say(w, http.StatusServiceUnavailable, "not ready")
	}))
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // the client may have gone
}
