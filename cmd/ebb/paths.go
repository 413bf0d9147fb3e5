package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/conductor"
)

// paths serves what stands at each path, and refuses others with the reason.
func paths(all map[string]http.Handler) http.Handler {
	mux := http.NewServeMux()
	for path, handler := range all {
		mux.Handle(path, handler)
	}
	there := strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		deny(w, &denial{http.StatusNotFound, "not_found", fmt.Sprintf("%.100q is not served; these are: %s", r.URL.Path, there)})
	})
	return mux
}

// only serves requests of one method; GET is also HEAD.
func only(method string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", method)
			deny(w, &denial{http.StatusMethodNotAllowed, "method", "want " + method})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readiness answers whether the conductor is ready. Who shows a key for everything is
// told why it is not; the reason may name the database, its host and its user.
func readiness(c *conductor.Conductor, d *access) http.Handler {
	health := c.Health()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.trusts(r) {
			if err := c.Ready(r.Context()); err != nil {
				deny(w, &denial{http.StatusServiceUnavailable, "not_ready", err.Error()})
				return
			}
		}
		health.ServeHTTP(w, r)
	})
}
