package engine_test

import (
	"context"
	"errors"
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

// lasts is a task that takes ten minutes, also if it is cancelled.
func lasts(context.Context, int) error { time.Sleep(10 * time.Minute); return nil }

// resumed suspends the run of a growing flow after a minute and resumes it an hour later. The run must then end within
// a day.
func resumed(t *testing.T, s *stage, l lang, opts ...engine.Option) (*engine.Result, error) {
	t.Helper()
	eng := newEngine(t, flow.Growing("f", l), append(opts, engine.WithTasks(parts{s}), engine.WithGrace(time.Hour))...)
	go func() {
		time.Sleep(time.Minute)
		_, _ = engine.Suspend(t.Context(), eng.Store(), "r")
	}()
	if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
		t.Fatal(err)
	}
	time.Sleep(time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
	defer cancel()
	return eng.Run(ctx, "r")
}

// TestSuspendedAtLimit suspends a run that has reached a limit before its executing atoms have ended. It is undone when
// it is resumed.
func TestSuspendedAtLimit(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": lasts}}
		res, err := resumed(t, s, func(ask *grow.Ask) grow.Growth {
			if ask.Cause.Kind == grow.Begin {
				return add(work("a"), work("b"))
			}
			return add(work("c"), work("d"), work("e"))
		}, append(opts, engine.WithLimits(engine.Limits{Atoms: 3}))...)
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeLimit {
			t.Errorf("it was undone because of %v", e.Failures[0])
		}
		wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
	})
}

// TestMoreAfterSuspension suspends a run until two of its tasks have ended. When its language hears of one, it asks for
// more. When it hears of the other, it waits for nothing.
func TestMoreAfterSuspension(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"a": lasts, "b": lasts}}
		res, err := resumed(t, s, func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; {
			case c.Kind == grow.Begin:
				return add(work("a"), work("b"))
			case c.Kind == grow.Continue:
				return add(work("c"))
			case c.Name == "a":
				return grow.Growth{More: atom.MustEncode("c")}
			case c.Name == "c":
				return done("all")
			default:
				return grow.Growth{}
			}
		}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		wantEnd(t, res, "SUCCESS", storage.Succeeded, storage.UndoNone)
	})
}

// TestOverdueWhileEnding: a run that its language has cancelled waits for a task. The process dies, and the deadline
// passes meanwhile. The run ends as cancelled.
func TestOverdueWhileEnding(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		dead := memstore.New()
		next := dead.Join()
		s := &stage{do: script{"a": lasts}}
		cancels := lang(func(ask *grow.Ask) grow.Growth {
			if ask.Cause.Kind == grow.Begin {
				g := add(work("a"), work("b"))
				g.Deadline = ask.Now.Add(time.Hour)
				return g
			}
			return grow.Growth{End: &grow.End{Cancelled: true, Failure: &atom.Failure{Code: "Enough"}}}
		})
		build := func(store backend.Store) *engine.Engine {
			return newEngine(t, flow.Growing("f", cancels), append(opts, engine.WithStore(store), engine.WithTasks(parts{s}))...)
		}
		ctx, die := context.WithTimeout(t.Context(), 30*time.Second)
		defer die()
		if _, err := build(dead).Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) {
			t.Fatal(err)
		}
		_ = dead.Close()
		time.Sleep(2 * time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		res, err := build(next).Run(ctx, "r")
		if e := reverted(t, err); e.Failures[0].Code != "Enough" {
			t.Errorf("it was undone because of %v", e.Failures[0])
		}
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
	})
}
