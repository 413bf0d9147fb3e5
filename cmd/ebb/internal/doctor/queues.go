package doctor

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
)

// queues reports the work for workers that waits although no worker asks for it, as `ebb why` says it.
func (d *doctor) queues(ctx context.Context, store backend.Store, _ time.Time) error {
	now := store.Now()
	w, err := inspect.WaitingOf(ctx, store, inspect.WaitingSearch{Now: now, Clock: time.Now})
	if err != nil {
		return err
	}
	found := false
	for i := range w.Groups {
		g := &w.Groups[i]
		if !g.Unasked || now.Sub(g.Since) < backend.PollerMemory { // a worker may ask soon
			continue
		}
		found = true
		d.findf("queues", Warning, "start a worker that asks for it, or find out why its worker does not reach the server",
			"%s for %s, since %s", waiting(g.Runs, "run"), g.Sentence(), g.Since.Format(time.RFC3339))
	}
	if !found {
		d.findf("queues", OK, "", "no work waits for workers that do not ask for it")
	}
	return nil
}
