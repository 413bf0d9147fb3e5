package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
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
