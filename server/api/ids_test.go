package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestBlanks: a member of a body or a parameter of a query that is only blanks is refused, and changes nothing.
func TestBlanks(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	served := api.New(store, api.Options{})
	for _, c := range [][2]string{
		{"jobs", `{"flow": " "}`},
		{"jobs", `{"flow": "f", "id": "\t"}`},
		{"jobs", `{"flow": "f", "after": "\u00a0"}`},
		{"jobs", `{"flow": "f", "labels": {" ": "x"}}`},
		{"jobs", `{"flow": "f", "needs": {"\u3000": "x"}}`},
		{"schedules", `{"flow": "f", "spec": " ", "id": "s"}`},
		{"schedules", `{"flow": "f", "spec": "@daily", "id": "s", "zone": " "}`},
		{"limits", `{"flow": " ", "runs": 3}`},
		{"limits", `{"label": "\n", "runs": 3}`},
		{"limits", `{"rate": " ", "runs": 3}`},
		{"bulk", `{"filter": "\u2028", "command": "cancel"}`},
		{"runs/none/revert", `{"to": " "}`},
		{"runs/none/retry", `{"from": " "}`},
		{"runs/none/retry-revert", `{"atom": " "}`},
		{"runs/none/signal", `{"name": " "}`},
		{"definitions", `{"flow": " ", "text": "{}"}`},
		{"try", `{"text": "{}", "case": " "}`},
		{"runs?filter=+", ""},
		{"runs?filter=%C2%A0", ""},
		{"counts?filter=%09", ""},
		{"jobs?state=+", ""},
		{"definitions?flow=+", ""},
	} {
		method := http.MethodPost
		if c[1] == "" {
			method = http.MethodGet
		}
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, method, api.Prefix+c[0], strings.NewReader(c[1]))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if served.ServeHTTP(w, r); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "is blank: leave it out") {
			t.Errorf("%s %s answers %d: %s", c[0], c[1], w.Code, w.Body)
		}
	}
	jobs, err := store.JobCounts(t.Context())
	limits, bad := store.Limits(t.Context())
	schedules, worse := store.Schedules(t.Context(), backend.ScheduleQuery{})
	if err := errors.Join(err, bad, worse); err != nil || len(jobs)+len(limits)+len(schedules) != 0 {
		t.Errorf("there are %v, %v and %v (%v)", jobs, limits, schedules, err)
	}
}

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
		{"jobs", `{"flow": "f", "after": "-1h"}`},
		{"jobs", `{"flow": "f", "id": "a\ud800"}`}, // half a character, which the decoder replaces
		{"jobs", `{"flow": "f", "id": "a", "id": "b"}`},
		{"jobs", `{"flow": "f", "id": "a", "ID": "b"}`},
		{"jobs", `{"flow": "f\n", "id": "a"}`},
		{"jobs", `{"flow": "..", "id": "a"}`},
		{"jobs", `{"id": "a", "flow": "` + strings.Repeat("f", backend.MaxID+1) + `"}`},
		{"schedules", `{"id": "a", "spec": "@daily", "flow": "` + strings.Repeat("f", backend.MaxID+1) + `"}`},
		{"schedules", `{"flow": "f", "spec": "@daily", "id": ".."}`},
		{"schedules", `{"flow": "ebb.bulk", "spec": "@daily", "id": "s"}`},
	} {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+c[0], strings.NewReader(c[1]))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if served.ServeHTTP(w, r); w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "storage:") {
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

// TestRepeatedParameters: a parameter that counts once is there once.
func TestRepeatedParameters(t *testing.T) {
	t.Parallel()
	served := api.New(memstore.New(), api.Options{})
	for query, status := range map[string]int{
		"runs?filter=a&filter=b": http.StatusBadRequest, "jobs?state=CLAIMED&state=PARKED": http.StatusOK,
	} {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann"})
		w := httptest.NewRecorder()
		served.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, api.Prefix+query, http.NoBody))
		if w.Code != status {
			t.Errorf("%s answers %d: %s", query, w.Code, w.Body)
		}
	}
}
