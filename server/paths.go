package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Paths returns a handler that serves each path with its handler. It refuses other paths with a list of the served
// ones.
func Paths(all map[string]http.Handler) http.Handler {
	mux := http.NewServeMux()
	for path, handler := range all {
		mux.Handle(path, handler)
	}
	there := strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(path string) bool {
		return strings.Contains(path, "{") // a pattern, for a path that is served for itself alone
	}), ", ")
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &Problem{http.StatusNotFound, "not_found", fmt.Sprintf("%.100q is not served; these are: %s", r.URL.Path,
			there)})
	})
	return mux
}

// Only serves requests of one method; GET includes HEAD.
func Only(method string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", method)
			refuse(w, &Problem{http.StatusMethodNotAllowed, "method", "want " + method})
			return
		}
		next.ServeHTTP(w, r)
	})
}
