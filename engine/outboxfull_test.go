package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A full store cannot write that messages of a run are being sent.
type full struct {
	backend.Store

	tries atomic.Int64
}

func (f *full) Unsent(ctx context.Context, out storage.Outgoing) error {
	if strings.HasPrefix(out.Run, "bad") {
		f.tries.Add(1)
		return storage.ErrFull
	}
	return f.Store.Unsent(ctx, out)
}

// TestOutboxFull: messages whose sending cannot be recorded are tried once a second, not all the time, and do not keep
// others from being sent.
func TestOutboxFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &full{Store: memstore.New()}
		eng := newEngine(t, flow.Growing("f", tells(1)), engine.WithStore(store))
		for _, id := range []string{"bad1", "bad2", "good"} {
			if _, err := eng.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		var sent atomic.Int64
		if err := eng.Dispatch(ctx, func(context.Context, storage.Outgoing) error { sent.Add(1); return nil }); err != nil {
			t.Error(err)
		}
		if n := store.tries.Load(); sent.Load() != 2 || n < 4 || n > 4*12 {
			t.Errorf("%d were sent, after %d tries of the others", sent.Load(), n)
		}
	})
}
