package inspect

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// RunView returns the diagram of a run: what picture returns, else [PlanView], else [GrownView], and whether it is the
// last. Picture draws the run's definition. It is nil, or returns an error that wraps [storage.ErrNotFound], if the run
// has no definition that can be read here. RunView returns such an error if there is nothing to draw.
func (ls *Levels) RunView(
	ctx context.Context, store backend.Store, run *storage.Run, picture func() (draw.View, error),
) (v draw.View, grown bool, err error) {
	err = storage.ErrNotFound
	if picture != nil {
		v, err = picture()
	}
	if errors.Is(err, storage.ErrNotFound) {
		v, err = ls.planView(ctx, store, run)
	}
	if grown = errors.Is(err, storage.ErrNotFound); grown {
		v, err = GrownView(ctx, store, run)
	}
	return v, grown, err
}
