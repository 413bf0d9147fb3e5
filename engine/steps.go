package engine

import (
	"context"
	"iter"

	"github.com/ebbflow/ebb/states"
)

// Steps is [Engine.Run] phase by phase: RESUMING, then SCHEDULING, WAITING and
// ANALYZING in turn, and at last how the run ended. Between two phases the run
// waits for the loop, except for the atoms that execute, so several runs can be
// driven by one loop (see [iter.Pull2]). Leaving the loop early suspends the run,
// which comes to rest before the loop is left. A panic of the loop's body stops
// the run at its last commit. A run that does not succeed yields the error that
// [Engine.Run] would return as its last, with the phase undefined. When the
// process dies between two phases the run is as it was last committed. A run
// whose answer was given up (see [Engine.GivenUp]), and a new run for which there
// is no place, or that another process creates at the same time, resumes once
// more.
func (e *Engine) Steps(ctx context.Context, id string, opts ...RunOption) iter.Seq2[states.Engine, error] {
	return func(yield func(states.Engine, error) bool) {
		left := false
		_, err := e.run(ctx, id, opts, func(phase states.Engine) bool {
			left = left || !yield(phase, nil)
			return !left
		})
		if err != nil && !left {
			yield(states.EngineUndefined, err)
		}
	}
}
