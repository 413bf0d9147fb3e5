package inspect

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/engine/internal/planview"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// PlanView returns the diagram of the flow of a run of Go code, with what became of each atom. The items of a flow.Each
// are one node that counts them, up to 400,000. The engine that runs the flow has stored it, so no code is needed. If
// there is none, because the flow grows while it runs, or has more than 2,000 atoms, or an earlier Ebb ran it, PlanView
// returns an error that wraps [storage.ErrNotFound].
func PlanView(ctx context.Context, store storage.Store, run *storage.Run) (draw.View, error) {
	v, err := planview.Read(ctx, store, run.Structure)
	if err != nil {
		return v, err
	}
	became, counts := make(map[string]string, len(v.Nodes)), map[string]string{}
	for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
		if err != nil {
			return v, err
		}
		became[a.Path] = string(a.Status())
		id := childRun(run.ID, &a)
		if id == "" {
			continue
		}
		strip, err := stripOf(ctx, store, id)
		if err != nil {
			return v, err
		}
		counts[a.Path] = strip.String()
	}
	v.Title = run.Flow + "  " + run.ID
	return v.Coloured(became).Counted(counts), nil
}

// stripOf counts the items of a flow.Each, whose run has that id. There are none in the run of another flow, and in one
// that was purged.
func stripOf(ctx context.Context, store storage.Reader, id string) (Strip, error) {
	run, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return Strip{}, nil
	}
	if err != nil {
		return Strip{}, err
	}
	return ReadStrip(ctx, store, &run, "")
}
