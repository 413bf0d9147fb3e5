package executor

import (
	"context"
	"sync"
)

// A callContext is the context of a call. It ends with the run's context, or when the call is cancelled or over.
// Few atoms check whether their context has ended. Therefore, the two allocations and the list entry that
// cancelling needs are made only when an atom checks.
type callContext struct {
	context.Context //nolint:containedctx // it is a context itself: that of the run

	mu   sync.Mutex
	own  context.Context //nolint:containedctx // nil until it was asked for
	stop context.CancelFunc
	over bool
}

// of derives the context from the run's context.
func (l *callContext) of(run context.Context) { l.Context = run }

// asked returns the cancellable context, which it creates at the first call.
func (l *callContext) asked() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		l.own, l.stop = context.WithCancel(l.Context)
		if l.over {
			l.stop()
		}
	}
	return l.own
}

// end ends the context.
func (l *callContext) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.stop != nil {
		l.stop()
	}
}

// Done implements [context.Context].
func (l *callContext) Done() <-chan struct{} { return l.asked().Done() }

// Err implements [context.Context].
func (l *callContext) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.own != nil:
		return l.own.Err()
	case l.over && l.Context.Err() == nil:
		return context.Canceled
	default:
		return l.Context.Err()
	}
}

// Value implements [context.Context]. Package context looks for the cancellable context with a Value call.
func (l *callContext) Value(key any) any {
	l.mu.Lock()
	own := l.own
	l.mu.Unlock()
	if own != nil {
		return own.Value(key)
	}
	return l.Context.Value(key)
}
