package workers_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage/memstore"
)

// FuzzRequest: for any requests of workers, the handler answers with a status that the package names, and the reason as
// JSON. No request is the server's fault.
func FuzzRequest(f *testing.F) {
	f.Add("poll", `{"kinds":["a"],"worker":"w","wait_seconds":0,"lease_seconds":1.5}`)
	f.Add("a.1/heartbeat", `{"lease_seconds":1e999}`)
	f.Add("a.1/complete", `{"result":[[{"a":"\ud800"}]]}`)
	f.Add("%00.1/fail", `{"code":"a","message":"b","details":{},"retryable":false}`)
	known := []int{
		http.StatusOK, http.StatusNoContent, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict,
		http.StatusRequestEntityTooLarge, http.StatusTemporaryRedirect,
	}
	f.Fuzz(func(t *testing.T, path, body string) {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond) // for which a worker waits for work
		defer stop()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://ebb/tasks/"+path, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		workers.Handler(t.Context(), memstore.New()).ServeHTTP(w, r)
		if w.Code == http.StatusServiceUnavailable && ctx.Err() != nil {
			return
		}
		if !slices.Contains(known, w.Code) || w.Body.Len() > 2000 || w.Code >= 400 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q %q: %d %.300s", path, body, w.Code, w.Body)
		}
	})
}
