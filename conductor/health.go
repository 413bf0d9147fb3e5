package conductor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// probe is how long the store may take to answer whether it is there.
const probe = 2 * time.Second

// Ready returns nil when the conductor serves and its store answers, else why
// not. A conductor that drains is not ready.
func (c *Conductor) Ready(ctx context.Context) error {
	if s := c.Stage(); s != Serving {
		return fmt.Errorf("conductor: it is %v", s)
	}
	ctx, stop := context.WithTimeout(ctx, probe)
	defer stop()
	if _, err := c.store.Run(ctx, "ebb-ready"); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("conductor: the store does not answer: %w", err)
	}
	return nil
}

// Health answers those who watch over processes: GET /livez is 200 as long as the
// process can answer at all, GET /readyz when the conductor is [Conductor.Ready],
// else 503 with the reason.
func (c *Conductor) Health() http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = fmt.Fprintln(w, text) // nobody to tell when the asker has gone
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := c.Ready(r.Context()); err != nil {
			c.log.Debug("not ready", "why", err)
			answer(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	return mux
}
