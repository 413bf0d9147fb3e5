package engine

import (
	"fmt"
	"time"
)

// DefaultGrace is how long an atom may go on after its context has ended, unless
// [WithGrace] says otherwise.
const DefaultGrace = time.Minute

// WithGrace sets how long an atom may go on after its context has ended: because
// its time limit passed, it was cancelled, or the process is to stop. An atom
// that goes on for longer ignores its context. It is given up: an error is
// logged and counted (see [Engine.GivenUp]), its attempt has failed with an
// outcome that is Unknown, and whatever it still returns is ignored. Its
// goroutine cannot be ended, and what it still does may meet its own revert.
// When the process is to stop nothing is written: the attempt is made again. 0
// gives up at once; the default is [DefaultGrace].
//
// An answer of a language, a retry controller or a decider that goes on although the
// run is to stop, or to follow a command or its deadline, is given up after the same
// time, and at least a second. The run then goes on from its last commit.
func WithGrace(d time.Duration) Option {
	return option(func(e *Engine) error {
		if d < 0 {
			return fmt.Errorf("engine: grace %v; want 0 or more", d)
		}
		e.env.Calls.Grace = d
		return nil
	})
}
