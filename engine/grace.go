package engine

import (
	"fmt"
	"time"
)

// DefaultGrace is how long an atom may continue after its context has ended, unless [WithGrace] sets another time.
//
//limit:scheduling time of an atom after its context ended (`engine.WithGrace`) | {}* | given up
const DefaultGrace = time.Minute

// WithGrace sets how long an atom may continue after its context has ended: because its time limit passed, it was
// cancelled, or the process must stop. If an atom continues for longer, the engine gives it up: it logs and counts
// an error (see [Engine.GivenUp]), the attempt fails with the outcome Unknown, and the engine ignores a later
// result. The atom's goroutine cannot be ended, and may run at the same time as its own revert. If the process must
// stop, the engine writes nothing, and the attempt is repeated when the run resumes. 0 gives up at once; the
// default is [DefaultGrace].
//
// A call of a language, a retry controller or a decider must end when the run must stop, or must apply a command or
// its deadline. If the call continues, the engine gives it up after the same time, but at least a second. The run
// then resumes from its last commit.
func WithGrace(d time.Duration) Option {
	return option(func(e *Engine) error {
		if d < 0 {
			return fmt.Errorf("engine: grace %v; want 0 or more", d)
		}
		e.env.Calls.Grace = d
		return nil
	})
}
