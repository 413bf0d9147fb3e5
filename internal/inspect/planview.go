package inspect

import (
	"context"

	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/planview"
	"github.com/ebbflow/ebb/storage"
)

// PlanView returns the diagram of the flow of a run of Go code, with what became of each atom, also of those in the run
// of a flow.Run. The items of a flow.Each are one node that counts them, up to 400,000. The engine that runs the flow
// has stored it, so no code is needed. If there is none, because the flow grows while it runs, or has more than 2,000
// atoms, or an earlier Ebb ran it, PlanView returns an error that wraps [storage.ErrNotFound].
func PlanView(ctx context.Context, store backend.Store, run *storage.Run) (draw.View, error) {
	return new(Levels).planView(ctx, store, run)
}

// planView is [PlanView] with what is remembered of the items.
func (ls *Levels) planView(ctx context.Context, store backend.Store, run *storage.Run) (draw.View, error) {
	v, err := planview.Read(ctx, store, run.Structure)
	if err != nil {
		return v, err
	}
	r := planReader{
		ctx: ctx, store: store, levels: ls, unfolded: map[string]bool{}, became: make(map[string]string, len(v.Nodes)),
		counts: map[string]string{}, many: map[string]bool{},
	}
	for _, n := range v.Nodes {
		r.became[n.ID] = ""
		for at, c := range n.ID {
			if c == '/' {
				r.unfolded[n.ID[:at]] = true
			}
		}
	}
	if err := r.read(run.ID, ""); err != nil {
		return v, err
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; r.became[n.ID] != "" {
			n.Path, n.Many = n.ID, r.many[n.ID]
		}
	}
	v.Title = run.Flow + "  " + run.ID
	return v.Colored(r.became).Counted(r.counts), nil
}

// A planReader reads the statuses of the atoms of a run.
type planReader struct {
	ctx      context.Context //nolint:containedctx // context of the call
	store    backend.Store
	levels   *Levels
	unfolded map[string]bool   // paths of nodes whose runs are drawn
	became   map[string]string // by the paths of the nodes that are drawn
	counts   map[string]string // by paths
	many     map[string]bool   // paths of nodes that stand for the nodes below them
}

// read adds a run whose paths start with a prefix.
func (r *planReader) read(id, prefix string) error {
	for a, err := range storage.EachAtom(r.ctx, r.store, id, storage.AtomQuery{}) {
		if err != nil {
			return err
		}
		path := prefix + a.Path
		if _, drawn := r.became[path]; !drawn {
			continue
		}
		r.became[path] = string(a.Status())
		child := childRun(id, &a)
		if child == "" {
			continue
		}
		items, err := r.levels.inside(r.ctx, r.store, child)
		if err != nil {
			return err
		}
		if r.counts[path] = items.strip().String(); r.counts[path] != "" || !r.unfolded[path] {
			r.many[path] = true
			continue
		}
		if err := r.read(child, path+"/"); err != nil {
			return err
		}
	}
	return nil
}
