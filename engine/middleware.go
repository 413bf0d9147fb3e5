package engine

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
)

// WithMiddleware puts wrap around the body of every task that the engine calls,
// going forward and back: what it returns is called in place of next, and may
// call next or not. [atom.CurrentCall] tells which call it is. Of several, the
// first given is the outermost.
//
// It is for what concerns all tasks alike: traces, measures, policies, faults in
// a test. A panic in it is the task's. Retries decide without it.
func WithMiddleware(wrap func(next atom.Body) atom.Body) Option {
	return option(func(e *Engine) error {
		if wrap == nil {
			return errors.New("engine: the middleware is nil")
		}
		e.env.Calls.Middleware = append(e.env.Calls.Middleware, wrap)
		return nil
	})
}
