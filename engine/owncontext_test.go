package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
)

// TestOwnContext: the error of a context that a task made itself is a failure like any other. It is retried, and the
// outcome is known. Only the end of the attempt's own context is a timeout or a cancellation.
func TestOwnContext(t *testing.T) {
	t.Parallel()
	own := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		<-ctx.Done()
		return fmt.Errorf("ask: %w", ctx.Err())
	}
	cancelled := func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return fmt.Errorf("ask: %w", ctx.Err())
	}
	whole := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		ends     func(ctx context.Context) error
		code     string
		attempts int
		unknown  bool
	}{
		"own deadline":        {own, atom.CodeError, 3, false},
		"own cancellation":    {cancelled, atom.CodeError, 3, false},
		"of another":          {func(context.Context) error { return context.Canceled }, atom.CodeError, 3, false},
		"limit of an attempt": {whole, atom.CodeTimeout, 3, true},
		"own in the limit":    {func(ctx context.Context) error { <-ctx.Done(); return own(ctx) }, atom.CodeTimeout, 3, true},
	} {
		for _, parallel := range []int{1, 4} {
			t.Run(fmt.Sprint(name, parallel), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					attempts, unknown := 0, false
					do := func(ctx context.Context, _ struct{}) (struct{}, error) { attempts++; return struct{}{}, c.ends(ctx) }
					undo := func(_ context.Context, _ struct{}, did atom.Outcome[struct{}]) error {
						unknown = did.Unknown()
						return nil
					}
					a := atom.Pair("a", do, undo, atom.Attempts(3, atom.Backoff{}), atom.Timeout(time.Minute))
					_, err := newEngine(t, flow.Linear("f", a), engine.WithParallelism(parallel)).Run(t.Context(), "r")
					if f := reverted(t, err).Failures[0]; f.Code != c.code || attempts != c.attempts || unknown != c.unknown {
						t.Errorf("failed with %v after %d attempts, unknown %t; want %+v", f, attempts, unknown, c)
					}
				})
			})
		}
	}
}
