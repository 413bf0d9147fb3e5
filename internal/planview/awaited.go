package planview

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/jsonschema"
)

// awaitedBy returns, by the hashes of the plan and of the plans of the runs that it begins, what their atoms take from
// outside.
func awaitedBy(p *flow.Plan) map[string]awaited.Record {
	all := map[string]awaited.Record{}
	for _, plan := range append([]*flow.Plan{p}, p.Children...) {
		r := awaited.Record{}
		for i := range plan.Atoms {
			a := &plan.Atoms[i]
			add(r, a.Name(), a.Atom)
			if a.Run != nil && a.Run.Task != nil {
				items := awaited.Record{}
				add(items, awaited.AllAtoms, a.Run.Task)
				all[a.Run.Plan.Hash] = items
			}
		}
		if _, isItems := all[plan.Hash]; !isItems {
			all[plan.Hash] = r
		}
	}
	return all
}

// add adds an atom to a record if another party may end it and the type of its result is known.
func add(r awaited.Record, path string, a *atom.Atom) {
	queued, _ := a.Body().(atom.Queued)
	outside := a.Deferral() != nil || queued != nil && queued.Queue(&atom.Call{Path: path}) != ""
	if t := a.ResultType(); outside && t != nil {
		r[path] = awaited.Atom{Signal: a.Signal(), Value: jsonschema.OfResult(t)}
	}
}
