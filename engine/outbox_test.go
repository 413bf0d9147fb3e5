package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// tells is a language that sends the given number of messages to each of two targets, and ends.
func tells(n int) lang {
	return func(*grow.Ask) grow.Growth {
		g := done(nil)
		for i := range n {
			for _, to := range []string{"x", "y"} {
				g.Out = append(g.Out, grow.Message{To: to, Body: atom.MustEncode(fmt.Sprint(to, i))})
			}
		}
		return g
	}
}

// unsent is a store whose process dies after it has sent the nth message and before it records that.
type unsent struct {
	backend.Store

	left int
	die  func()
}

func (s *unsent) Sent(ctx context.Context, n ...int64) error {
	if s.left == 0 {
		s.die()
		return storage.ErrClosed
	}
	s.left--
	return s.Store.Sent(ctx, n...)
}

// TestOutboxSurvives lets the process die between sending each message and recording it. The message is sent again,
// under the same id, and all messages arrive in order.
func TestOutboxSurvives(t *testing.T) { //nolint:tparallel // at each message in turn
	t.Parallel()
	const messages = 3
	for nth := range messages {
		onEachStore(t, func(t *testing.T, join func() backend.Store) {
			store := join()
			language := lang(func(*grow.Ask) grow.Growth {
				g := done(nil)
				for i := range messages {
					g.Out = append(g.Out, grow.Message{To: "bus", Body: atom.MustEncode(i)})
				}
				return g
			})
			if _, err := newEngine(t, flow.Growing("f", language), engine.WithStore(store)).Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			var bodies []string
			ids := map[string]string{}
			send := func(_ context.Context, out storage.Outgoing) error {
				body := out.Body.String()
				if id := ids[body]; id != "" && id != out.ID {
					t.Errorf("%s was sent as %s and as %s", body, id, out.ID)
				}
				ids[body] = out.ID
				bodies = append(bodies, body)
				return nil
			}
			for _, left := range []int{nth, messages} {
				ctx, die := context.WithTimeout(t.Context(), 2*time.Minute)
				dies := &unsent{store, left, die}
				if err := newEngine(t, flow.Growing("f", language), engine.WithStore(dies)).Dispatch(ctx, send); err != nil {
					t.Fatal(err)
				}
				die()
			}
			var want []string
			for i := range messages {
				want = append(want, fmt.Sprint(i))
				if i == nth {
					want = append(want, fmt.Sprint(i))
				}
			}
			if diff := cmp.Diff(want, bodies); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if left, err := store.RunOutbox(t.Context(), "r", 0); err != nil || len(left) > 0 || len(ids) != messages {
				t.Errorf("left over: %v, %v; ids %v", left, err, ids)
			}
		})
	}
}

// TestOutbox sends the messages of runs, in order, and again after a failure.
//
// Guarantee (Waiting and time): Ebb sends messages at least once, under one ID, in order per target. It parks what
// fails, and names the error and the command that resends.
// Also: `TestOutboxSurvives`, `TestOutboxParks`, `cmd/ebb: TestScripts/outbox`, `cmd/ebb/internal/view: TestWhy`.
func TestOutbox(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
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
		eng := newEngine(t, flow.Growing("f", tells(1)), append(opts, engine.WithStore(store))...)
		go func() { served <- eng.Serve(ctx, engine.WithSender(send)) }()
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

// TestOutboxParks parks a message that cannot be sent. It keeps the messages behind it in order until the message is
// released.
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
				if last = out; out.Attempts == 1 {
					panic("nothing can be sent")
				}
				return errors.New("nobody is there: \xff\x00") // a server may send any text
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
		if !utf8.ValidString(last.Error) || strings.Contains(last.Error, "\x00") {
			t.Errorf("the error is stored as %q", last.Error)
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

// TestOutboxSlowReceiver: receivers that answer slowly, or never, delay neither other receivers nor their next
// messages.
//
// Attack (CloudEvents and workers): More slow or silent receivers than Ebb sends to at once.
// Result: Bounded: beside a slow send, Ebb starts another.
func TestOutboxSlowReceiver(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		const slow = 40 // more targets than are sent to at once
		language := lang(func(*grow.Ask) grow.Growth {
			g := done(nil)
			for i := range slow {
				g.Out = append(g.Out, grow.Message{To: fmt.Sprint("slow", i), Body: atom.Null})
			}
			for i := range 3 {
				g.Out = append(g.Out, grow.Message{To: "fast", Body: atom.MustEncode(i)})
			}
			return g
		})
		eng := newEngine(t, flow.Growing("f", language), opts...)
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		sent := &box[string]{}
		send := func(ctx context.Context, out storage.Outgoing) error {
			if out.Target == "fast" {
				sent.put(out.Body.String())
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		if err := eng.Dispatch(ctx, send); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"0", "1", "2"}, sent.list); diff != "" {
			t.Errorf("sent within ten seconds (-want +got):\n%s", diff)
		}
	})
}
