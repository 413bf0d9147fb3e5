package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestSuspendOwned suspends a run that another engine drives. The call returns when the run rests, and no other atom
// was started.
func TestSuspendOwned(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": func(context.Context, int) error { time.Sleep(time.Hour); return nil }}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		go func() {
			time.Sleep(time.Minute)
			run, err := engine.Suspend(t.Context(), eng.Store(), "r")
			if err != nil || run.State != states.FlowSuspended || !run.Hold {
				t.Errorf("%v, hold %t: %v", run.State, run.Hold, err)
			}
		}()
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		wantActs(t, s, "a")
		if res, err := eng.Command(t.Context(), "r", engine.Hold()); !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold {
			t.Errorf("suspended again: %v", err)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "b")
		for _, id := range []string{"r", "x"} {
			_, err := engine.Suspend(t.Context(), eng.Store(), id)
			if want := map[string]error{"r": engine.ErrRefused, "x": storage.ErrNotFound}[id]; !errors.Is(err, want) {
				t.Errorf("suspending %s: %v", id, err)
			}
		}
	})
}

// TestSuspendUnowned suspends a run whose owner has died in the middle of an atom. The call returns at once. The atom
// is repeated when the run is resumed.
func TestSuspendUnowned(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		dead := memstore.New()
		next := dead.Join()
		s := &stage{do: script{"a": func(ctx context.Context, n int) error {
			if n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}}
		build := func() flow.Node { return flow.Linear("f", s.atom("a"), s.atom("b")) }
		ctx, die := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Minute); die() }()
		if _, err := newEngine(t, build(), append(opts, engine.WithStore(dead))...).Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		_ = dead.Close()
		run, err := engine.Suspend(t.Context(), next, "r")
		if err != nil || run.State != states.FlowSuspended || !run.Hold || run.Owner != "" {
			t.Fatalf("%v, hold %t, owner %q: %v", run.State, run.Hold, run.Owner, err)
		}
		wantActs(t, s, "a")
		wantStates(t, next, "r", "a RUNNING")
		if _, err := newEngine(t, build(), append(opts, engine.WithStore(next))...).Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		wantActs(t, s, "a", "b")
	})
}

// TestHoldWaits lets requests to suspend wait in the inbox of a run. The process that takes the run over starts
// nothing, unless another command came later.
func TestHoldWaits(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		for _, id := range []string{"held", "cancelled", "lifted"} {
			ctx, die := context.WithTimeout(t.Context(), time.Minute)
			if _, err := eng.Run(ctx, id); !errors.Is(err, engine.ErrStopped) {
				t.Fatal(err)
			}
			die()
			if err := engine.Send(t.Context(), eng.Store(), id, engine.Hold()); err != nil {
				t.Fatal(err)
			}
		}
		s.took()
		if _, err := eng.Run(t.Context(), "held"); !errors.Is(err, engine.ErrSuspended) {
			t.Error(err)
		}
		wantActs(t, s)
		_, err := eng.Command(t.Context(), "cancelled", engine.Cancel(""))
		_ = reverted(t, err)
		wantActs(t, s, "undo a")
		s.do = nil
		if _, err := eng.Run(t.Context(), "lifted", engine.IgnoreSuspend()); err != nil {
			t.Error(err)
		}
		wantActs(t, s, "a", "b")
		for _, id := range []string{"held", "cancelled", "lifted"} {
			if _, messages, err := eng.Store().Messages(t.Context(), id, 0); err != nil || len(messages) > 0 {
				t.Errorf("%d messages are left for %s: %v", len(messages), id, err)
			}
		}
	})
}

// TestCommandOutlivesOwner sends a command to a run whose owner dies before it has
// applied the command: the sender's engine then drives the run.
func TestCommandOutlivesOwner(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		store := memstore.New()
		next := store.Join()
		dead := make(chan struct{})
		s := &stage{do: script{"b": func(context.Context, int) error { <-dead; return nil }}}
		build := func() flow.Node { return flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")) }
		owner := newEngine(t, build(), append(opts, engine.WithStore(store))...)
		go func() { _, _ = owner.Run(t.Context(), "r") }()
		time.Sleep(time.Minute)
		other := newEngine(t, build(), append(opts, engine.WithStore(next))...)
		if _, err := other.Command(t.Context(), "r", engine.RevertTo("x")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a command that the run does not allow was sent to the owner: %v", err)
		}
		go func() { time.Sleep(time.Second); _ = store.Close(); close(dead) }()
		res, err := other.Command(t.Context(), "r", engine.Cancel(""))
		_ = reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		synctest.Wait()
		wantActs(t, s, "a", "b", "undo b", "undo a done")
	})
}

// TestRevertToOfOwned reverts a part of a run by a message to its owner. The caller does not resume the run.
func TestRevertToOfOwned(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": untilCancelled}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")), opts...)
		go func() { _, _ = eng.Run(t.Context(), "r") }()
		time.Sleep(time.Minute)
		res, err := eng.Command(t.Context(), "r", engine.RevertTo("a"))
		if !errors.Is(err, engine.ErrSuspended) || !res.Run.Hold {
			t.Fatal(err)
		}
		synctest.Wait()
		wantActs(t, s, "a", "b", "c", "undo c", "undo b done")
	})
}

// TestSuspendBehindCommands suspends a run that no process drives, whose inbox has a command that resumes it. The run
// is at rest at once, and again after a process has applied the command. The audit has all commands, in their order.
func TestSuspendBehindCommands(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			defer func() { _ = store.Close() }()
			alice, bob := storage.Issuer{Via: storage.ViaConsole, Name: "alice"}, storage.Issuer{Via: storage.ViaConsole, Name: "bob"}
			eng := newEngine(t, flow.Linear("f", atom.Awaits[string]("wait", "go", atom.Deferral{})), engine.WithStore(store))
			if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
				t.Fatal(err)
			}
			want := "\nr: resume  by bob (console)\nr: suspend  by alice (console)"
			suspend := func(who storage.Issuer) {
				t.Helper()
				if row, err := engine.SuspendBy(t.Context(), store, "r", who); err != nil || !row.Hold || row.State != states.FlowSuspended {
					t.Errorf("%v, held: %v, %v", row.State, row.Hold, err)
				}
			}
			if held {
				suspend(bob)
				want = "\nr: suspend  by bob (console)" + want
			}
			if err := engine.Send(t.Context(), store, "r", engine.Resume().By(bob)); err != nil {
				t.Fatal(err)
			}
			suspend(alice)
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			if err := eng.Serve(ctx); err != nil {
				t.Error(err)
			}
			row, err := store.Run(t.Context(), "r")
			_, left, err2 := store.Messages(t.Context(), "r", 0)
			if err := errors.Join(err, err2); err != nil || !row.Hold || row.State != states.FlowSuspended || len(left) > 0 {
				t.Errorf("the run is %v, held: %v, with %d messages, %v", row.State, row.Hold, len(left), err)
			}
			if got := audited(t, store); got != want {
				t.Errorf("the audit says%s\nwant%s", got, want)
			}
		})
	}
}
