package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/ebbflow/ebb/internal/logevent"
)

// Live answers GET with 200 as long as the process can answer. Mount it at /livez, where [Server.Guard] requires no
// key and does not count running requests.
func Live() http.Handler {
	return Only(http.MethodGet,
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") }))
}

// Ready answers GET with 200 if ready returns nil, else with 503. Use the Ready method of a conductor, for example.
// Mount it at /readyz, where [Server.Guard] requires no key. Only a client with a key for all paths receives the
// reason, because it may name the database, its host and its user. The log contains each reason once. The notes follow
// "ok" in answers to such a client.
func (s *Server) Ready(ready func(context.Context) error, notes ...string) http.Handler {
	all := strings.Join(append([]string{"ok"}, notes...), "\n")
	var last atomic.Pointer[string] // the last reason
	return Only(http.MethodGet, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := ready(r.Context())
		if err == nil {
			last.Store(nil)
			if s.trusts(r) {
				say(w, http.StatusOK, all)
			} else {
				say(w, http.StatusOK, "ok")
			}
			return
		}
		if s.trusts(r) {
			refuse(w, &Problem{http.StatusServiceUnavailable, "not_ready", err.Error()})
			return
		}
		reason := err.Error()
		if was := last.Swap(&reason); was == nil || *was != reason {
			s.log.Warn(logevent.ServerNotReady, "error", reason)
		}
		say(w, http.StatusServiceUnavailable, "not ready")
	}))
}

func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // the client may have disconnected
}
