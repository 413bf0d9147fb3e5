package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// asked is a store that records the `since` of each call of RunsWithMessages.
type asked struct {
	backend.Store

	mu    sync.Mutex
	since []int64
}

func (a *asked) RunsWithMessages(ctx context.Context, since int64) ([]backend.Arrival, int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = append(a.since, since)
	return a.Store.RunsWithMessages(ctx, since)
}

// TestInboxWatcherAsksOnlyForNew drives runs one after the other while messages of other runs wait. Each time, the
// watcher asks the store only for new messages.
func TestInboxWatcherAsksOnlyForNew(t *testing.T) {
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := &stage{}
		store := &asked{Store: join()}
		if err := store.Create(t.Context(), storage.Run{ID: "other", Flow: "f"}); err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, flow.Linear("f", s.atom("a")), engine.WithStore(store))
		const runs = 5
		for i := range runs {
			if err := store.Send(t.Context(), storage.Message{Run: "other", Kind: "signal"}); err != nil {
				t.Fatal(err)
			}
			if _, err := eng.Run(t.Context(), fmt.Sprint("r", i)); err != nil {
				t.Fatal(err)
			}
			if last := store.since[len(store.since)-1]; last < int64(i) {
				t.Errorf("before run %d it was asked for what came since %d", i, last)
			}
		}
	})
}
