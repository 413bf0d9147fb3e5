package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// deaf ignores the end of its context for an hour.
func deaf(context.Context, int) error { time.Sleep(time.Hour); return nil }

// TestGivenUp gives up atoms that ignore their context: one that timed out, one that is cancelled, and one that blocks
// the stop of the process.
//
// Guarantee (Waiting and time): Ebb gives up, logs and counts an atom that ignores its context.
func TestGivenUp(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var log bytes.Buffer
		opts = append(opts, engine.WithGrace(time.Minute),
			engine.WithLogger(hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Warn})))
		s := &stage{do: script{"b": deaf}}
		begun := time.Now()
		wantAfter := func(want time.Duration) {
			t.Helper()
			if took := time.Since(begun); took != want {
				t.Errorf("it took %v; want %v", took, want)
			}
			begun = time.Now()
		}

		timed := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b", atom.Timeout(time.Second))), opts...)
		_, err := timed.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Code != atom.CodeTimeout {
			t.Errorf("it failed with %v", e.Failures[0])
		}
		wantAfter(time.Minute + time.Second)
		wantActs(t, s, "a", "b", "undo b", "undo a done")
		if n := timed.GivenUp(); n != 1 {
			t.Errorf("%d were given up; want 1", n)
		}
		if text := log.String(); !strings.Contains(text, "atom.abandoned") || !strings.Contains(text, "path=b") {
			t.Errorf("the log does not say so: %s", text)
		}

		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), opts...)
		go func() {
			time.Sleep(time.Second)
			_, _ = eng.Command(t.Context(), "cancelled", engine.Cancel(""))
		}()
		res, err := eng.Run(t.Context(), "cancelled")
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantAfter(time.Minute + time.Second)
		wantActs(t, s, "a", "b", "undo b", "undo a done")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := eng.Run(ctx, "stopped"); !errors.Is(err, engine.ErrStopped) {
			t.Error(err)
		}
		wantAfter(time.Minute + time.Second)
		wantActs(t, s, "a", "b")
		time.Sleep(time.Hour) // in the end all of them have ended
	})
}
