package inspect

import (
	"context"

	"github.com/ebbflow/ebb/engine/internal/planview"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// PlanView returns the diagram of the flow of a run of Go code, with what became of each atom. The engine that runs the
// flow has stored it, so no code is needed. If there is none, because the flow grows while it runs, or has more than
// 2,000 atoms, or an earlier Ebb ran it, PlanView returns an error that wraps [storage.ErrNotFound].
func PlanView(ctx context.Context, store storage.Store, run *storage.Run) (draw.View, error) {
	v, err := planview.Read(ctx, store, run.Structure)
	if err != nil {
		return v, err
	}
	became := make(map[string]string, len(v.Nodes))
	for a, err := range Atoms(ctx, store, run) {
		if err != nil {
			return v, err
		}
		became[a.Path] = a.Status
	}
	v.Title = run.Flow + "  " + run.ID
	return v.Coloured(became), nil
}
