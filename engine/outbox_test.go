package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// tells is a language that sends so many messages to each of two targets, and
// ends.
func tells(n int) lang {
	return func(*flow.Ask) flow.Growth {
		g := done(nil)
		for i := range n {
			for _, to := range []string{"x", "y"} {
				g.Out = append(g.Out, flow.Message{To: to, Body: atom.MustEncode(fmt.Sprint(to, i))})
			}
		}
		return g
	}
}

// TestOutbox sends what runs tell others: in order, again when it fails, and
// again under the same id when the sender died in between.
func TestOutbox(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := storage.Memory()
		if _, err := newEngine(t, flow.Growing("f", tells(2)), append(opts, engine.WithStore(store))...).Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		sent, ids := &box[string]{}, map[string]string{}
		refuse := 2
		send := func(_ context.Context, out storage.Outgoing) error {
			if out.Target == "y" {
				return nil
			}
			body := out.Body.String()
			if id := ids[body]; id != "" && id != out.ID {
				t.Errorf("%s was sent as %s and as %s", body, id, out.ID)
			}
			ids[body] = out.ID
			sent.put(fmt.Sprint(body, " ", out.Attempts))
			if refuse > 0 && body == `"x0"` {
				refuse--
				return errRefused
			}
			return nil
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error, 1)
		eng := newEngine(t, flow.Growing("f", tells(1)), append(opts, engine.WithStore(store), engine.WithSender(send))...)
		go func() { served <- eng.Serve(ctx) }()
		time.Sleep(time.Minute)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{`"x0" 1`, `"x0" 2`, `"x0" 3`, `"x1" 1`}, sent.list); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		left, err := store.Outgoing(t.Context(), time.Now().Add(time.Hour), 0)
		if err != nil || len(left) != 0 {
			t.Errorf("left over: %v, %v", left, err)
		}
	})
}

// TestOutboxParks gives up what cannot be sent, and keeps what is behind it in
// order until it is released.
func TestOutboxParks(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		eng := newEngine(t, flow.Growing("f", tells(2)), opts...)
		store := eng.Store()
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		broken := true
		sent, last := &box[string]{}, storage.Outgoing{}
		ctx, stop := context.WithTimeout(t.Context(), 24*time.Hour)
		defer stop()
		send := func(_ context.Context, out storage.Outgoing) error {
			if out.Target == "x" && broken {
				last = out
				return errors.New("nobody is there")
			}
			sent.put(out.Body.String())
			return nil
		}
		if err := eng.Dispatch(ctx, send); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{`"y0"`, `"y1"`}, sent.list); diff != "" || last.Attempts != 20 {
			t.Errorf("after %d tries; sent (-want +got):\n%s", last.Attempts, diff)
		}
		broken = false
		last.Parked, last.NotUntil, last.Attempts = false, time.Time{}, 0
		if err := store.Unsent(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		ctx, stop = context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := eng.Dispatch(ctx, send); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{`"y0"`, `"y1"`, `"x0"`, `"x1"`}, sent.list); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}
