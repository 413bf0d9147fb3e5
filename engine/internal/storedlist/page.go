// Package storedlist reads lists that are not stored as one value, see [atom.StoredList].
package storedlist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// ErrForeign is returned for a list of a run that does not belong to the family of the reader.
var ErrForeign = errors.New("the list belongs to another run")

// Page returns the results of n nodes of a list, or fewer, from the node with index from on. Root is the id of the run
// at the root of the reader's family.
func Page(
	ctx context.Context, store backend.Reader, of *atom.StoredList, from, n int, root string,
) ([]atom.Value, error) {
	run, err := store.Run(ctx, of.Run)
	if err == nil && cmp.Or(run.Root, run.ID) != root || errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("the list of run %q: %w", of.Run, ErrForeign)
	}
	if err != nil {
		return nil, err
	}
	to := min(from+min(n, atom.ListPage), of.Nodes)
	paths := make([]string, 0, max(to-from, 0))
	for i := max(from, 0); i < to; i++ {
		paths = append(paths, strconv.Itoa(i))
	}
	atoms, err := store.AtomsAt(ctx, of.Run, paths...)
	if err != nil {
		return nil, err
	}
	list := make([]atom.Value, 0, len(atoms))
	for i := range atoms {
		if a := &atoms[i]; a.State == states.TaskSuccess || a.State == states.TaskReverting {
			list = append(list, a.Result.Data)
		}
	}
	return list, nil
}
