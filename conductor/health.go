package conductor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// patience is how long the store may take to answer whether it is there.
const patience = 2 * time.Second

// checkEvery is how long the result of a check counts, as anybody may ask for it.
const checkEvery = time.Second

// A lastCheck is the result of the last check whether the store can be written.
type lastCheck struct {
	mu  sync.Mutex
	at  time.Time // the zero time when there was none
	err error
}

// check returns whether the store can be written now, or could a moment ago. Only one
// check is made at a time.
func (l *lastCheck) check(ctx context.Context, store storage.WriteChecker) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at.IsZero() || time.Since(l.at) >= checkEvery {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		l.err = store.CheckWrite(ctx)
		l.at = time.Now()
	}
	return l.err
}

// Memory returns how much memory the process uses, and may use.
func (c *Conductor) Memory() engine.Memory { return c.server.Memory() }

// Ready returns nil when the conductor serves and its store answers and takes writes,
// else why not. A conductor that drains is not ready, nor one that takes up nothing as its
// memory budget is reached, see [engine.WithMemoryBudget]. The write is at most a second old.
func (c *Conductor) Ready(ctx context.Context) error {
	if s := c.Stage(); s != Serving {
		return fmt.Errorf("conductor: it is %v", s)
	}
	if m := c.Memory(); m.Exhausted {
		return fmt.Errorf("conductor: the memory budget of %d bytes is reached, and nothing more is taken up", m.Budget)
	}
	// Concurrent probes share one query, which goes on if a client does not wait for it.
	_, err, _ := c.probes.Do("", func() (any, error) { return nil, c.probe(context.WithoutCancel(ctx)) })
	return err
}

// probe returns why the store does not answer.
func (c *Conductor) probe(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if _, err := c.store.Run(ctx, "ebb-ready"); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("conductor: the store does not answer: %w", err)
	}
	if store, checks := c.store.(storage.WriteChecker); checks {
		if err := c.written.check(ctx, store); err != nil {
			return fmt.Errorf("conductor: the store cannot be written: %w", err)
		}
	}
	return nil
}

// Health answers probes of the process: GET /livez is 200 as long as the
// process can answer at all, GET /readyz when the conductor is [Conductor.Ready],
// else 503. The answer does not give the reason, which may name the database, because any
// client may ask. The log gives each reason once.
func (c *Conductor) Health() http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, text string) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = fmt.Fprintln(w, text) // the client may have gone
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	var last atomic.Pointer[string] // reason
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		reason := ""
		if err := c.Ready(r.Context()); err != nil {
			reason = err.Error()
		}
		if was := last.Swap(&reason); reason != "" && (was == nil || *was != reason) {
			c.log.Warn("not ready", "error", reason)
		}
		if reason != "" {
			answer(w, http.StatusServiceUnavailable, "not ready")
			return
		}
		answer(w, http.StatusOK, "ok")
	})
	return mux
}
