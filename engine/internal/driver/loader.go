package driver

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// loadEnded adds the children of an open fork that have ended, because the run needs their results to continue.
// Children are created in order, so no child exists after the first missing one. It stops when the process stops.
func (r *run) loadEnded(fork *scheduler.Loaded, records []scheduler.Loaded) ([]scheduler.Loaded, error) {
	paths := make([]string, 0, min(fork.Spec.Group.Count, childrenAtOnce))
	for from := 0; from < fork.Spec.Group.Count; from += childrenAtOnce {
		paths = paths[:0]
		for i := from; i < min(from+childrenAtOnce, fork.Spec.Group.Count); i++ {
			paths = append(paths, scheduler.ChildPath(fork.Path, int(fork.Rec.Attempt), i))
		}
		if r.ctx.Err() != nil {
			return nil, ErrStopped
		}
		found, err := r.env.Store.AtomsAt(r.storing, r.Claim.Run, paths...)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Live {
				continue // loaded with the other records
			}
			l, err := r.Draft.Loaded(&found[i])
			if err != nil {
				return nil, err
			}
			records = append(records, l)
		}
		if len(found) < len(paths) {
			break
		}
	}
	return records, nil
}

// childrenAtOnce is the number of children of a fork that are read at once.
const childrenAtOnce = 256

var errNodeUndone = errors.New("what was open when the run ended was undone, and is never reopened; start another run")

// nodesAt reads nodes that have ended.
func (r *run) nodesAt(paths []string) ([]scheduler.Loaded, error) {
	nodes := make([]scheduler.Loaded, 0, len(paths))
	for len(paths) > 0 {
		page := paths[:min(len(paths), childrenAtOnce)]
		paths = paths[len(page):]
		if r.ctx.Err() != nil {
			return nil, ErrStopped
		}
		found, err := r.env.Store.AtomsAt(r.storing, r.Claim.Run, page...)
		if err == nil && len(found) < len(page) {
			err = fmt.Errorf("%w: no record of a node that was open when the run ended", storage.ErrCorrupt)
		}
		if err != nil {
			return nil, r.Wrap(err)
		}
		for i := range found {
			l, err := r.Draft.Load(&found[i])
			switch {
			case err != nil:
				return nil, r.Wrap(err)
			case l.Spec == nil:
				return nil, r.Wrap(fmt.Errorf("%w: atom %q is not a node", storage.ErrCorrupt, l.Path))
			case states.CheckReset(l.Rec.State, states.TaskPending) != nil, l.Rec.State == states.TaskReverted,
				l.Rec.State == states.TaskRevertFailure:
				return nil, errNodeUndone
			}
			nodes = append(nodes, l)
		}
	}
	return nodes, nil
}
