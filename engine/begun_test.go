package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A blind store does not find a run the first time.
type blind struct {
	backend.Store
	asked bool
}

func (b *blind) Run(ctx context.Context, id string) (storage.Run, error) {
	if !b.asked {
		b.asked = true
		return storage.Run{}, fmt.Errorf("%w: run %q", storage.ErrNotFound, id)
	}
	return b.Store.Run(ctx, id)
}

// TestBegunTwice lets two engines start one run. The slower one executes nothing, informs no observer, and answers as
// if the run had existed when it looked.
func TestBegunTwice(t *testing.T) {
	onEachStore(t, func(t *testing.T, join func() backend.Store) {
		s := &stage{do: script{"slow": func(context.Context, int) error { time.Sleep(time.Minute); return nil }}}
		late := func() (*engine.Engine, *box[engine.Event]) {
			events := &box[engine.Event]{}
			return newEngine(t, flow.Linear("f", s.atom("slow")), engine.WithStore(&blind{Store: join()}), engine.WithObserver(events.put)), events
		}
		first := newEngine(t, flow.Linear("f", s.atom("slow")), engine.WithStore(join()))
		done := make(chan error)
		go func() {
			_, err := first.Run(t.Context(), "r")
			done <- err
		}()
		time.Sleep(time.Second)
		second, events := late()
		if _, err := second.Run(t.Context(), "r"); !errors.As(err, new(*storage.OwnedError)) || len(events.list) > 0 {
			t.Errorf("while it is driven: %v, %v", err, events.list)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		third, events := late()
		res, err := third.Run(t.Context(), "r")
		if err != nil || len(events.list) > 0 || res.Run.ID != "r" {
			t.Errorf("when it has ended: %+v, %v, %v", res, err, events.list)
		}
		if n := s.calls["slow"]; n != 1 {
			t.Errorf("%d calls were made", n)
		}
	})
}
