package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Detached returns the ids of the runs that a run has begun and does not wait for, or
// no longer, of those that these have begun, and so on, as far as they have not ended:
// parents before children. [Engine.Run] does not drive them to their ends,
// [Engine.Serve] does. An observer is told of those that are never waited for as they
// are begun, see [RunDetached].
func (e *Engine) Detached(ctx context.Context, run string) ([]string, error) {
	var open []string
	for todo := []string{run}; len(todo) > 0; todo = todo[1:] {
		for a, err := range storage.EachAtom(ctx, e.env.Store, todo[0], storage.AtomQuery{}) {
			if err != nil {
				return nil, fmt.Errorf("engine: what run %q has begun: %w", todo[0], err)
			}
			var spec flow.Spec
			if a.Kind != storage.KindRun || a.Spec.Decode(&spec) != nil || spec.Child == nil {
				continue
			}
			if !spec.Child.Detached && (a.State == states.TaskRunning || a.State == states.TaskReverting) {
				continue // its end is waited for
			}
			id := driver.ChildID(todo[0], a.Path, a.Attempt, spec.Child)
			child, err := e.env.Store.Run(ctx, id)
			switch {
			case errors.Is(err, storage.ErrNotFound) || err == nil && child.Parent != todo[0]:
				continue // it could not be begun, or was removed since
			case err != nil:
				return nil, fmt.Errorf("engine: what run %q has begun: %w", todo[0], err)
			case !child.State.Ended():
				open = append(open, id)
			}
			todo = append(todo, id)
		}
	}
	return open, nil
}
