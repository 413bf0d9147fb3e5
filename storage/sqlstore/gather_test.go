package sqlstore

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

// TestServerGather lets many write at once, some of whom share a transaction with nobody:
// each gets its turn, and none is left waiting while there is a free lane.
func TestServerGather(t *testing.T) {
	t.Parallel()
	s, _ := openOnServer(t)
	const writers, writes = 40, 25
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range writes {
				one := &write{alone: (i+k)%3 == 0, do: func(ctx context.Context, w *session) error {
					var now int64
					return w.get(ctx, &now, w.dialect.clock)
				}}
				if err := s.writer.run(t.Context(), one); err != nil {
					t.Error(err)
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if n := done.Load(); n != writers*writes {
		t.Errorf("%d of %d writes were done", n, writers*writes)
	}
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if len(s.writer.free) != s.writer.lanes || s.writer.gathers != 0 {
		t.Errorf("%d of %d lanes are free, %d gather", len(s.writer.free), s.writer.lanes, s.writer.gathers)
	}
}
