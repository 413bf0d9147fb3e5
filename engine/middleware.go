package engine

import (
	"errors"

	"github.com/ebbflow/ebb/atom"
)

// WithMiddleware wraps the body of every task that the engine calls, for Execute and Revert. The engine calls the
// result of wrap in place of next, and the result may call next or not. [atom.CurrentCall] returns the current
// call. If there are several middlewares, the first one is the outermost.
//
// Use it for concerns of all tasks: traces, metrics, policies, faults in a test. A panic in it counts as a panic of
// the task. The engine does not call it for retry controllers.
func WithMiddleware(wrap func(next atom.Body) atom.Body) Option {
	return option(func(e *Engine) error {
		if wrap == nil {
			return errors.New("engine: the middleware is nil")
		}
		e.env.Calls.Middleware = append(e.env.Calls.Middleware, wrap)
		return nil
	})
}
