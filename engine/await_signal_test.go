package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// TestAwaitSignal ends an atom by a signal that was sent before or after the atom began to wait.
//
// Guarantee (Waiting and time): A message that arrives early, in any order, or while no process drives the run, takes
// effect once.
// Also: `TestTold`, `TestDeferredEarly`, `TestSignalsBefore`.
func TestAwaitSignal(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		wait := atom.Awaits[string]("wait", "paid", atom.Deferral{Deadline: time.Hour}, atom.As("answer"))
		eng := newEngine(t, flow.Linear("f", s.atom("a"), wait, s.atom("c")), opts...)
		signal := func(id, name string) {
			l := storage.Message{Run: id, Kind: "signal", Name: name, Body: atom.MustEncode("by " + name)}
			if err := eng.Store().Send(t.Context(), l); err != nil {
				t.Error(err)
			}
		}
		s.do = script{"a": func(ctx context.Context, _ int) error {
			if id := atom.CurrentCall(ctx).Run; id == "before" {
				signal(id, "other")
				signal(id, "paid")
			}
			return nil
		}}
		go func() {
			time.Sleep(time.Minute)
			signal("after", "other")
			signal("after", "paid")
		}()
		for _, id := range []string{"before", "after"} {
			res, err := eng.Run(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := engine.Get(res, answer); got != "by paid" {
				t.Errorf("%s: got %q", id, got)
			}
			wantActs(t, s, "a", "c")
		}
		_, err := eng.Run(t.Context(), "never")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeTimeout {
			t.Errorf("it failed with %v", e.Failures[0])
		}
	})
}

// TestSignalsBefore finds signals in the inbox that came before any atom waited for them, in the other order. No token
// waits beside them.
func TestSignalsBefore(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		one := atom.Awaits[string]("one", "first", atom.Deferral{Deadline: time.Hour}, atom.As("answer"))
		two := atom.Awaits[string]("two", "second", atom.Deferral{})
		three := atom.Awaits[string]("three", "third", atom.Deferral{Deadline: time.Hour}, atom.As("last"))
		eng := newEngine(t, flow.Linear("f", one, two, s.atom("a"), three), opts...)
		send := func(names ...string) {
			t.Helper()
			for _, name := range names {
				if err := eng.Store().Send(t.Context(), storage.Message{Run: "r", Kind: "signal", Name: name, Body: atom.MustEncode(name)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := eng.Start(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		send("second", "first")
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		wantActs(t, s, "a")
		wantStates(t, eng.Store(), "r", "one SUCCESS", "two SUCCESS", "a SUCCESS", "three RUNNING")
		time.Sleep(50 * time.Minute)
		if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err := eng.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeTimeout || e.Failures[0].Attempt != 1 {
			t.Errorf("it failed with %+v", e.Failures[0])
		}
		if took := time.Since(begun); took != 10*time.Minute {
			t.Errorf("its time was up after another %v", took)
		}
		wantActs(t, s, "undo a done")
	})
}
