package engine_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// TestLongestDurations: the longest duration is a limit like none, alone and in every sum. A backoff that is no wait is
// refused.
func TestLongestDurations(t *testing.T) {
	t.Parallel()
	const longest = time.Duration(math.MaxInt64)
	for _, d := range []time.Duration{longest, longest - 1, longest - time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			do := func(ctx context.Context, _ struct{}) (struct{}, error) { //nolint:unparam // as atoms are
				select {
				case <-ctx.Done():
					return struct{}{}, ctx.Err()
				case <-time.After(time.Hour):
					return struct{}{}, nil
				}
			}
			undo := func(ctx context.Context, _ struct{}, _ atom.Outcome[struct{}]) error {
				_, err := do(ctx, struct{}{})
				return err
			}
			a := atom.Pair("a", do, undo, atom.Timeout(d), atom.RevertTimeout(d), atom.Attempts(2, atom.Constant(d)),
				atom.RevertAttempts(2, atom.Exponential(d, d)), atom.ScheduleToStart(d), atom.StartToClose(d))
			b := atom.Func("b", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, errRefused })
			wait := atom.Awaits[int]("c", "s", atom.Deferral{Deadline: d, Heartbeat: d}, atom.As("x"))
			root := flow.Linear("f", flow.Unordered("u", a, wait), b).WithDeadline(d)
			eng := newEngine(t, root, engine.WithGrace(d))
			go func() {
				time.Sleep(time.Minute)
				_ = eng.Store().Send(t.Context(), storage.Message{Run: "r", Kind: grow.MessageSignal, Name: "s", Body: atom.MustEncode(1)})
			}()
			_, err := eng.Run(t.Context(), "r")
			if f := reverted(t, err).Failures[0]; f.Code != "Refused" {
				t.Errorf("%v: failed with %v", d, f)
			}
		})
	}
	for _, b := range []atom.Backoff{{First: -1}, {First: 1, Max: -1}, {First: 1, Rate: math.NaN()}, {First: 1, Jitter: math.NaN()}} {
		for _, root := range []flow.Node{
			atom.Func("a", noop, atom.Attempts(2, b)), atom.Func("a", noop, atom.RevertAttempts(2, b)),
			flow.Linear("f", atom.Func("a", noop)).WithRetry(atom.Times(2, b)),
		} {
			wantRefused(t, flow.ErrInvalid, root)
		}
	}
}
