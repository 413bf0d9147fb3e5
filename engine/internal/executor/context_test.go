package executor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestCallContext compares the context of a call with one of package context under
// all sequences of asking for its end, its own end and that of the run.
func TestCallContext(t *testing.T) {
	why := errors.New("why")
	for _, acts := range []string{
		"", "a", "e", "r", "ae", "ea", "ar", "ra", "er", "re", "aer", "are", "ear", "era", "rae", "rea",
	} {
		run, halt := context.WithCancelCause(context.WithValue(t.Context(), contextKey{}, "of the run"))
		want, stop := context.WithCancel(run)
		got := &callContext{Context: run}
		for _, act := range acts {
			switch act {
			case 'a':
				got.Done()
			case 'e':
				got.end()
				stop()
			case 'r':
				halt(why)
			}
		}
		if !errors.Is(got.Err(), want.Err()) || (got.Err() == nil) != (len(acts) == 0 || acts == "a") {
			t.Errorf("%q: the error is %v; want %v", acts, got.Err(), want.Err())
		}
		if !strings.HasPrefix(acts, "er") && !errors.Is(context.Cause(got), context.Cause(want)) { // then the run says why, too
			t.Errorf("%q: the cause is %v; want %v", acts, context.Cause(got), context.Cause(want))
		}
		if got.Value(contextKey{}) != "of the run" {
			t.Errorf("%q: it does not know the run's values", acts)
		}
		stop()
		got.end()
		halt(nil)
		<-got.Done()
	}
}

type contextKey struct{}

// TestCallContextReaches ends contexts that were derived from the context of a call, without a goroutine for each.
func TestCallContextReaches(t *testing.T) {
	for name, derive := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancel": context.WithCancel,
		"timeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
	} {
		l := &callContext{Context: t.Context()}
		ctx, cancel := derive(l)
		called := make(chan struct{})
		context.AfterFunc(ctx, func() { close(called) })
		if ctx.Err() != nil {
			t.Errorf("%s: %v before the end", name, ctx.Err())
		}
		l.end()
		<-ctx.Done()
		<-called
		cancel()
	}
}
