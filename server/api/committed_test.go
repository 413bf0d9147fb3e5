package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCommittedIsDone sends each command through a store that fails from the commit of the command on.
func TestCommittedIsDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, body, says string }{
		{"runs/r/cancel", "", `"sent"`},
		{"runs/r/suspend", "", `"sent"`},
		{"runs/r/revert", "", `"sent"`},
		{"jobs", `{"flow": "f"}`, `"UNCLAIMED"`},
		{"bulk", `{"filter": "id:*", "command": "cancel"}`, `"UNCLAIMED"`},
		{"jobs/j/cancel", "", `"COMPLETE"`},
		{"schedules", `{"id": "new", "spec": "@daily", "flow": "f"}`, `"@daily"`},
		{"schedules/s/pause", "", `"paused":true`},
		{"schedules/s/resume", "", `"paused":false`},
		{"schedules/s/remove", "", `"removed"`},
		{"limits", `{"flow": "f", "runs": 2}`, `"runs":2`},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f", Structure: "x"})
			ask := func(store backend.Store, path, body string) *httptest.ResponseRecorder {
				ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+path, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				api.New(store, api.Options{}).ServeHTTP(w, r)
				return w
			}
			for _, made := range []*httptest.ResponseRecorder{
				ask(store, "jobs", `{"id": "j", "flow": "f"}`),
				ask(store, "schedules", `{"id": "s", "spec": "@daily", "flow": "f"}`),
			} {
				if err != nil || made.Code != http.StatusOK {
					t.Fatal(err, made)
				}
			}
			failing := faultstore.New(store, faultstore.After(1, faultstore.Busy))
			if w := ask(failing, c.path, c.body); w.Code >= 300 || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
			}
		})
	}
}
