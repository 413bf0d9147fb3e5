package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// countingInbox counts the messages that are read from a store, and reports the highest number.
type countingInbox struct {
	backend.Store
	count atomic.Int64
	upTo  chan int64
}

func (c *countingInbox) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	wakeups, page, err := c.Store.Messages(ctx, run, after)
	if c.count.Add(int64(len(page))); len(page) > 0 {
		c.upTo <- page[len(page)-1].N
	}
	return wakeups, page, err
}

// TestInboxIsReadOnce sends a run almost as many messages as its inbox holds, which no atom waits for, in bursts. Each is read once, at most a
// page at a time, and the awaited one is found.
//
// Attack (Large runs): Thousands of messages that a run does not wait for.
// Result: Reads each once, in pages.
func TestInboxIsReadOnce(t *testing.T) {
	t.Parallel()
	s := &countingInbox{Store: memstore.New(), upTo: make(chan int64, 100)}
	end := make(chan error, 1)
	begun := make(chan struct{}, 1)
	wait := atom.Awaits[int]("wait", "go", atom.Deferral{Deadline: time.Hour})
	eng := newEngine(t, flow.Linear("f", wait), engine.WithStore(s), engine.WithObserver(func(ev engine.Event) {
		if ev.Kind == engine.OthersAwaited {
			select {
			case begun <- struct{}{}:
			default:
			}
		}
	}))
	go func() { _, err := eng.Run(t.Context(), "r"); end <- err }()
	<-begun
	sent := int64(0)
	for burst := range 18 {
		messages := make([]storage.Message, []int{10, 2*backend.MaxMessages + 1}[burst%2])
		for i := range messages {
			messages[i] = storage.Message{Run: "r", Kind: grow.MessageSignal, Name: fmt.Sprint("other", burst)}
		}
		if err := s.Send(t.Context(), messages...); err != nil {
			t.Fatal(err)
		}
		sent += int64(len(messages))
		for upTo := <-s.upTo; upTo < sent; upTo = <-s.upTo {
			t.Logf("read up to %d of %d", upTo, sent)
		}
	}
	if err := s.Send(t.Context(), storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode(1)}); err != nil {
		t.Fatal(err)
	}
	if err := <-end; err != nil {
		t.Fatal(err)
	}
	if got := s.count.Load(); got != sent+1 {
		t.Errorf("%d messages were read of %d", got, sent+1)
	}
}
