package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestNamesOfPosts: a post with an id that no path can contain, or of a flow of Ebb's own, changes nothing.
func TestNamesOfPosts(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	served := api.New(store, api.Options{})
	for _, c := range [][2]string{
		{"jobs", `{"flow": "f", "id": "."}`},
		{"jobs", `{"flow": "f", "id": "a\u200b"}`},
		{"jobs", `{"flow": "f", "id": " a"}`},
		{"jobs", `{"flow": "ebb.bulk", "input": {"filter": "id:*", "command": "cancel"}}`},
		{"jobs", `{"flow": "swf"}`},
		{"jobs", `{"flow": "f", "id": "a\ud800"}`}, // half a character, which the decoder replaces
		{"jobs", `{"flow": "f", "id": "a", "id": "b"}`},
		{"jobs", `{"flow": "f", "id": "a", "ID": "b"}`},
		{"jobs", `{"flow": "f\n", "id": "a"}`},
		{"jobs", `{"flow": "..", "id": "a"}`},
		{"jobs", `{"id": "a", "flow": "` + strings.Repeat("f", storage.MaxID+1) + `"}`},
		{"schedules", `{"id": "a", "spec": "@daily", "flow": "` + strings.Repeat("f", storage.MaxID+1) + `"}`},
		{"schedules", `{"flow": "f", "spec": "@daily", "id": ".."}`},
		{"schedules", `{"flow": "ebb.bulk", "spec": "@daily", "id": "s"}`},
	} {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+c[0], strings.NewReader(c[1]))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if served.ServeHTTP(w, r); w.Code != http.StatusBadRequest {
			t.Errorf("%s %s answers %d: %s", c[0], c[1], w.Code, w.Body)
		}
	}
}

// TestBodiesThatDoNotFit: a client learns that to send the same again is of no use.
func TestBodiesThatDoNotFit(t *testing.T) {
	t.Parallel()
	served := api.New(memstore.New(), api.Options{})
	large := `"` + strings.Repeat("x", atom.MaxValue) + `"`
	for _, c := range []struct {
		path   string
		body   io.Reader
		status int
	}{
		{"jobs", strings.NewReader(`{"flow": "f", "input": ` + large + `}`), http.StatusRequestEntityTooLarge},
		{"schedules", strings.NewReader(`{"flow": "f", "spec": "@daily", "id": "s", "input": ` + large + `}`), http.StatusRequestEntityTooLarge},
		{"jobs", strings.NewReader(`{"flow": "f", "input": ` + large + large), http.StatusRequestEntityTooLarge},
		{"jobs", iotest.ErrReader(io.ErrUnexpectedEOF), http.StatusBadRequest},
		{"jobs", iotest.ErrReader(os.ErrDeadlineExceeded), http.StatusRequestTimeout},
	} {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+c.path, c.body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if served.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%s answers %d, want %d: %s", c.path, w.Code, c.status, w.Body)
		}
	}
}
