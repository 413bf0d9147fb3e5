package inspect

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// stepsRead is the maximum number of atoms that InProgress reads, because a run may have any number.
const stepsRead = 200

// InProgress returns the paths of up to most atoms that are in progress in a run, and whether there may be more. A run
// that has ended has none, and the store is not asked. Errors are the store's.
func InProgress(ctx context.Context, store backend.Reader, run *storage.Run, most int) (
	paths []string, more bool, err error,
) {
	if run.State.Ended() {
		return nil, false, nil
	}
	atoms, err := store.Atoms(ctx, run.ID, storage.AtomQuery{Live: true, Limit: stepsRead})
	if err != nil {
		return nil, false, err
	}
	for i := range atoms {
		switch {
		case !inMiddle(&atoms[i]):
		case len(paths) == most:
			return paths, true, nil
		default:
			paths = append(paths, atoms[i].Path)
		}
	}
	return paths, len(atoms) == stepsRead, nil
}
