package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// patient is a language that waits a second, makes a call that it tries again after a second, and sends a message.
func patient(ask *grow.Ask) grow.Growth {
	switch c := ask.Cause; {
	case c.Kind == grow.Begin:
		return add(grow.Spec{Name: "wait", Kind: grow.Timer, Due: ask.Now.Add(time.Second)})
	case c.Kind == grow.Failed:
		return grow.Growth{Again: &grow.Again{After: time.Second}}
	case c.Name == "wait":
		return add(work("a"))
	default:
		g := done(nil)
		g.Out = []grow.Message{{To: "bus", Body: atom.MustEncode("it is done")}}
		return g
	}
}

// awaitStored returns when the failure that ends a turn is stored.
func awaitStored(ctx context.Context, t *testing.T, store backend.Store, turn int) {
	t.Helper()
	for {
		changed := store.Changed()
		timers, err := store.RunTimers(ctx, "r")
		if err != nil {
			t.Error(err)
		}
		left, err := store.RunOutbox(ctx, "r", 0)
		if err != nil {
			t.Error(err)
		}
		switch {
		case turn == 0 && len(timers) == 1 && timers[0].Kind == storage.TimerRetry,
			turn == 1 && len(left) == 1 && left[0].Error != "",
			turn > 0 && len(left) == 0: // a slow process has sent the message again by then
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Errorf("turn %d: timers %v, messages %v", turn, timers, left)
			return
		}
	}
}

// TestServersClock lets two processes drive a run in turns, while the clock of PostgreSQL is an hour off. Each thing
// that waits is stored by that clock, and happens when its time has come, whichever process set it.
//
// Guarantee (Waiting and time): On PostgreSQL, timers, retries and messages are due by the server's clock, also if the
// clocks of the processes differ from it.
func TestServersClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			t.Parallel()
			dsn := postgrestest.Database(t)
			postgrestest.SetClock(t, dsn, ahead)
			if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
				t.Fatal(err)
			}
			db := postgrestest.Connect(t, dsn)
			judge := func(when string, least int) {
				t.Helper()
				var all, wrong int
				if err := db.QueryRow(t.Context(), `SELECT count(*),
coalesce(sum(CASE WHEN abs(due / 1e6 - extract(epoch FROM clock_timestamp())) > 600 THEN 1 ELSE 0 END), 0)
FROM (SELECT due FROM runs UNION ALL SELECT due FROM timers UNION ALL SELECT not_until FROM outbox) d WHERE due > 0`,
				).Scan(&all, &wrong); err != nil || all < least || wrong > 0 {
					t.Errorf("%s: %d of %d times are not by the server's clock: %v", when, wrong, all, err)
				}
			}
			var mu sync.Mutex
			var tried, sent []time.Time
			next := make(chan struct{}, 1)
			happens := func(list *[]time.Time) (err error) {
				mu.Lock()
				defer mu.Unlock()
				if *list = append(*list, time.Now()); len(*list) == 1 {
					err = errRefused
				}
				next <- struct{}{}
				return err
			}
			s := &stage{do: script{"a": func(context.Context, int) error { return happens(&tried) }}}
			send := func(context.Context, storage.Outgoing) error { return happens(&sent) }
			var engines [2]*engine.Engine
			for i := range engines {
				store, err := sqlstore.Open(t.Context(), dsn)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = store.Close() }()
				engines[i] = newEngine(t, flow.Growing("f", lang(patient)), engine.WithStore(store), engine.WithTasks(parts{s}))
			}
			began := time.Now()
			if err := engines[0].Start(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			for i, what := range []string{"the first call", "the second call and the first message", "the second message"} {
				judge("before "+what, []int{1, 1, 0}[i]) // a slow process has sent the message again before it stops
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				served := make(chan error, 1)
				go func() { served <- engines[(i+1)%2].Serve(ctx, engine.WithSender(send)) }()
				for range []int{1, 2, 1}[i] {
					select {
					case <-next:
					case <-ctx.Done():
						t.Errorf("%s has not come", what)
					}
				}
				awaitStored(ctx, t, engines[(i+1)%2].Store(), i)
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			}
			if len(tried) != 2 || len(sent) != 2 {
				t.Fatalf("%d calls, %d messages", len(tried), len(sent))
			}
			for what, after := range map[string]time.Duration{
				"the timer": tried[0].Sub(began), "the retry": tried[1].Sub(tried[0]), "the message": 2 * sent[1].Sub(sent[0]),
			} {
				if after < time.Second-10*time.Millisecond {
					t.Errorf("%s came after %v", what, after)
				}
			}
		})
	}
}
