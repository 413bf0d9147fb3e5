package inspect

import (
	"context"
	"slices"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// PivotsIn returns the paths of the points of no return on the undo stack of a run: an undo stops above them, see
// [grow.Spec]. Errors are the store's.
func PivotsIn(ctx context.Context, store backend.Reader, run string, stack []storage.Undo) (map[string]bool, error) {
	pivots := map[string]bool{}
	for some := range slices.Chunk(stack, atomsAtOnce) {
		paths := make([]string, len(some))
		for i := range some {
			paths[i] = some[i].Path
		}
		atoms, err := store.AtomsAt(ctx, run, paths...)
		if err != nil {
			return nil, err
		}
		for i := range atoms {
			var spec grow.Spec
			a := &atoms[i]
			if a.Spec != nil && a.Spec.Decode(&spec) == nil && spec.Pivot && a.State == states.TaskSuccess {
				pivots[a.Path] = true
			}
		}
	}
	return pivots, nil
}
