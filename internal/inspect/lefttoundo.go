package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// LeftToUndo returns up to most atoms that have a Revert and were done, but not undone, the last first. They are those
// of a run of a plan, whose tree is given; of other runs it knows nothing, and returns none. Errors are the store's.
func LeftToUndo(ctx context.Context, store backend.Store, run *storage.Run, t *Tree, most int) ([]string, error) {
	if run.Definition != "" || run.Structure == "" || run.State == states.FlowReverted {
		return nil, nil
	}
	picture, err := PlanView(ctx, store, run)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ended := map[string]time.Time{}
	for steps := slices.Clone(t.Top.children); len(steps) > 0; steps = steps[1:] {
		ended[steps[0].Path] = steps[0].Ended
		steps = append(steps, steps[0].children...)
	}
	var paths []string
	for i := range picture.Nodes {
		if n := &picture.Nodes[i]; n.Kind == draw.Undoable && n.State == states.TaskSuccess.String() {
			paths = append(paths, n.ID)
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return ended[b].Compare(ended[a]) })
	return paths[:min(len(paths), most)], nil
}
