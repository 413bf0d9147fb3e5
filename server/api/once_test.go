package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestIdempotencyKey: a repeated request has the same answer, changes nothing and leaves no second line in the audit.
// Another request under its key is refused.
//
// Guarantee (Jobs): A repeated `Idempotency-Key` changes nothing and adds no line to the audit. With another body or
// another command it is refused with 422.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	served := api.New(store, api.Options{})
	if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f", Structure: "x"}); err != nil {
		t.Fatal(err)
	}
	post := func(status int, key, path, body string) map[string]any {
		t.Helper()
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		if w.Code != status {
			t.Fatalf("%s %s answers %d: %s", path, body, w.Code, w.Body)
		}
		var out map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	const job, schedule = `{"flow": "f", "input": {"n": 1}}`, `{"id": "s", "spec": "@daily", "flow": "f"}`
	lines := 0
	for _, c := range []struct {
		path, body string
		status     int
		lines      int
	}{
		{"jobs", job, 200, 1},
		{"jobs", `{"id": "named", "flow": "f"}`, 200, 1},
		{"jobs/named/cancel", `{"reason": "late"}`, 200, 1},
		{"bulk", `{"filter": "id:*", "command": "cancel"}`, 200, 1},
		{"schedules", schedule, 200, 1},
		{"schedules/s/pause", "", 200, 1},
		{"schedules/s/remove", "", 200, 1},
		{"limits", `{"flow": "f", "runs": 2}`, 200, 1},
		{"runs/r/cancel", `{}`, 202, 0},
	} {
		key := c.path + c.body
		first := post(c.status, key, c.path, c.body)
		again := post(c.status, key, c.path, c.body)
		if first["job"] != again["job"] || first["existed"] != again["existed"] {
			t.Errorf("%s: %v, then %v", c.path, first, again)
		}
		post(http.StatusUnprocessableEntity, key, c.path, `{"flow": "other", "id": "x"}`)
		post(http.StatusUnprocessableEntity, key, "runs/r/suspend", c.body)
		all, err := store.Audit(t.Context(), backend.AuditQuery{})
		if lines += c.lines; err != nil || len(all) != lines {
			t.Errorf("%s: %d lines in the audit, %v; want %d", c.path, len(all), err, lines)
		}
	}
	if named := post(http.StatusOK, "another", "jobs", `{"id": "named", "flow": "f"}`); named["existed"] != true {
		t.Errorf("an id that is taken is answered with %v", named)
	}
	other := post(http.StatusConflict, "third", "jobs", `{"id": "named", "flow": "g", "input": {"n": 2}}`)
	if detail := other["detail"].(string); !strings.Contains(detail, "another flow and input") {
		t.Errorf("another job with an id that is taken is answered with %s", detail)
	}
	if all, err := store.Audit(t.Context(), backend.AuditQuery{}); err != nil || len(all) != lines {
		t.Errorf("a job that was not posted has a line in the audit: %v", err)
	}
}

// A hidden store has no named record the first time, as if another request wrote it a moment later.
type hidden struct {
	backend.Store

	was bool
}

func (h *hidden) NamedRecord(ctx context.Context, kind, key string) (storage.NamedRecord, error) {
	if !h.was {
		h.was = true
		return storage.NamedRecord{}, storage.ErrNotFound
	}
	return h.Store.NamedRecord(ctx, kind, key)
}

// A busy store has many named records.
type busy struct{ backend.Store }

func (busy) CountRecords(context.Context, string, string) (int, error) { return 100_000, nil }

// TestIdempotencyKeysFull: no more requests are remembered than may be; one without a key is still served.
func TestIdempotencyKeysFull(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	for key, status := range map[string]int{"k": http.StatusTooManyRequests, "": http.StatusOK} {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+"jobs", strings.NewReader(`{"flow": "f"}`))
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		w := httptest.NewRecorder()
		if api.New(busy{store}, api.Options{}).ServeHTTP(w, r); w.Code != status {
			t.Errorf("with the key %q: %d %s", key, w.Code, w.Body)
		}
	}
}

// TestIdempotencyKeyAtOnce: of two equal requests at once, the later one is answered as the other, not with 422.
func TestIdempotencyKeyAtOnce(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f", Structure: "x"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx := server.WithCaller(t.Context(), server.Caller{Name: "ann", Operate: true})
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, api.Prefix+"runs/r/cancel", strings.NewReader(`{"reason": "late"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		if api.New(&hidden{Store: store}, api.Options{}).ServeHTTP(w, r); w.Code != http.StatusAccepted {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}
