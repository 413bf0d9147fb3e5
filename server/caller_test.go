package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// TestPurposes sends requests with keys for view and for operate, and with one for all paths.
//
// Attack (Keys, certificates and settings): A key for `view` changes something, or opens another path; a key for
// `operate` opens another path; a key without a purpose operates.
// Result: Refused.
func TestPurposes(t *testing.T) {
	t.Parallel()
	const viewKey, operateKey = rightKey + "v", rightKey + "o"
	file := filepath.Join(t.TempDir(), "keys")
	text := "ann " + viewKey + " view\nbob " + operateKey + " operate\nroot " + rightKey + "\npython " + workersKey + " tasks\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Keys: file})
	if err != nil {
		t.Fatal(err)
	}
	ann, bob, root := Caller{Name: "ann"}, Caller{Name: "bob", Operate: true}, Caller{Name: "root"}
	for _, c := range []struct {
		method, path, key string
		want              Caller // none if the request is refused
	}{
		{http.MethodGet, "/console/runs", viewKey, ann},
		{http.MethodHead, "/api/v1/runs", viewKey, ann},
		{http.MethodPost, "/api/v1/runs/r/cancel", viewKey, Caller{}},
		{http.MethodDelete, "/console/runs", viewKey, Caller{}},
		{http.MethodGet, "/console/../metrics", viewKey, Caller{}},
		{http.MethodGet, "/view/x", viewKey, Caller{}},
		{http.MethodGet, "/", viewKey, Caller{}},
		{http.MethodGet, "/console/runs", operateKey, bob},
		{http.MethodPost, "/api/v1/runs/r/cancel", operateKey, bob},
		{http.MethodPost, "/events", operateKey, Caller{}},
		{http.MethodGet, "/operate", operateKey, Caller{}},
		{http.MethodGet, "/api/v1/runs", rightKey, root},
		{http.MethodPost, "/events", rightKey, root},
		{http.MethodPost, "/api/v1/runs/r/cancel", rightKey, Caller{}}, // a key must name this purpose
		{http.MethodGet, "/console/runs", workersKey, Caller{}},
		{http.MethodGet, "/console/runs", wrongKey, Caller{}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+c.key)
		var got Caller
		s.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, _ = CallerOf(r.Context())
		})).ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s %s with %q: %+v, want %+v", c.method, c.path, c.key, got, c.want)
		}
	}
	if _, ok := CallerOf(t.Context()); ok {
		t.Error("a context without a caller has one")
	}
}
